package dev.lapilli.sample

import android.app.Application
import dev.lapilli.TranslationHolder
import dev.lapilli.Translator
import dev.lapilli.android.translationHolder
import dev.lapilli.android.translator

/** Outlives the screens, and so does what it holds. */
open class SampleApplication : Application() {
    lateinit var translations: TranslationHolder
        private set

    override fun onCreate() {
        super.onCreate()
        translations = translationHolder(newTranslator())
    }

    /** Tests have another one. */
    protected open fun newTranslator(): Translator = translator("en-fr")
}
