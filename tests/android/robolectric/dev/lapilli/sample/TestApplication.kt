package dev.lapilli.sample

import dev.lapilli.Translator
import dev.lapilli.android.translator
import dev.lapilli.android.translatorOptions

/** The sample's, on a machine whose driver computes on the CPU, with texts that come in many pieces. */
class TestApplication : SampleApplication() {
    public override fun newTranslator(): Translator {
        val options = translatorOptions()
        options.refuseCpu = false
        options.ignoreEnvironment = false
        options.maxSubmitMicros = 2000
        options.beams = 1
        return translator("en-fr", options)
    }

    /** The process is gone, and another one begins. */
    fun killAndBegin() {
        translations.close()
        onCreate()
    }
}
