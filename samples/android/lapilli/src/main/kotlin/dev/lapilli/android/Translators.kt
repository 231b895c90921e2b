package dev.lapilli.android

import android.app.Application
import android.content.Context
import android.os.Bundle
import android.os.Handler
import android.os.Looper
import dev.lapilli.SavedTranslation
import dev.lapilli.Translation
import dev.lapilli.TranslationHolder
import dev.lapilli.TranslationListener
import dev.lapilli.Translator
import dev.lapilli.TranslatorOptions
import java.io.File
import java.util.concurrent.Executor

/** The thread of the screens. */
class MainThread : Executor {
    private val handler = Handler(Looper.getMainLooper())

    override fun execute(command: Runnable) {
        handler.post(command)
    }
}

/** Options that suit a phone: the app's cache directory, and no driver that computes on the CPU. */
fun Context.translatorOptions() = TranslatorOptions().apply {
    cacheDirectory = File(cacheDir, "lapilli").path
    refuseCpu = true
    ignoreEnvironment = true
}

/** A translator with the model in the assets of [folder]. It is closed by who makes it, if ever: it may live as long as the app. */
fun Context.translator(folder: String, options: TranslatorOptions = translatorOptions()) =
    Translator(AssetModel(assets, folder), options)

/**
 * A holder that follows the app's screens: paused in the background, gives memory back when it is short. To be made before the
 * first screen is started, in onCreate of the application or of its activity.
 */
fun Application.translationHolder(translator: Translator): TranslationHolder {
    val holder = TranslationHolder(translator, MainThread())
    val callbacks = HolderCallbacks(holder)
    registerActivityLifecycleCallbacks(callbacks)
    registerComponentCallbacks(callbacks)
    return holder
}

/** [onText] gets all of the text each time there is more, on the main thread, and [onEnd] is called last. */
fun Translator.translate(text: String, onText: (String) -> Unit, onEnd: (Translation) -> Unit = {}): Translation {
    val listener = object : TranslationListener {
        override fun onText(translation: Translation, text: String) = onText(text)

        override fun onEnd(translation: Translation) = onEnd(translation)
    }
    return translate(text).also { it.attach(listener, MainThread()) }
}

private const val SOURCE = "lapilli.source"
private const val TEXT = "lapilli.text"
private const val RUNNING = "lapilli.running"

/** Into what onSaveInstanceState is given. */
fun Bundle.putTranslation(saved: SavedTranslation?) {
    if (saved == null) return
    putString(SOURCE, saved.source)
    putString(TEXT, saved.text)
    putBoolean(RUNNING, saved.running)
}

/** Null: none was put there. */
fun Bundle.getTranslation(): SavedTranslation? {
    val source = getString(SOURCE) ?: return null
    return SavedTranslation(source, getString(TEXT).orEmpty(), getBoolean(RUNNING))
}
