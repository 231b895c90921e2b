package dev.lapilli.android

import android.app.Activity
import android.app.Application
import android.content.ComponentCallbacks2
import android.content.res.Configuration
import android.os.Bundle
import dev.lapilli.TranslationHolder

/** Tells a holder what Android tells the app. */
internal class HolderCallbacks(private val holder: TranslationHolder) :
    Application.ActivityLifecycleCallbacks,
    ComponentCallbacks2 {
    override fun onActivityStarted(activity: Activity) = holder.start()

    /** One that is turned comes back at once. */
    override fun onActivityStopped(activity: Activity) = holder.stop(activity.isChangingConfigurations)

    override fun onTrimMemory(level: Int) = holder.trimMemory(level)

    override fun onLowMemory() = holder.trimMemory(TranslationHolder.LEVEL_COMPLETE)

    override fun onConfigurationChanged(newConfig: Configuration) = Unit

    override fun onActivityCreated(activity: Activity, savedInstanceState: Bundle?) = Unit

    override fun onActivityResumed(activity: Activity) = Unit

    override fun onActivityPaused(activity: Activity) = Unit

    override fun onActivitySaveInstanceState(activity: Activity, outState: Bundle) = Unit

    override fun onActivityDestroyed(activity: Activity) = Unit
}
