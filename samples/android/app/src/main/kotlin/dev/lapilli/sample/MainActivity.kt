package dev.lapilli.sample

import android.app.Activity
import android.os.Bundle
import android.widget.Button
import android.widget.EditText
import android.widget.LinearLayout
import android.widget.TextView
import dev.lapilli.TranslationView
import dev.lapilli.android.getTranslation
import dev.lapilli.android.putTranslation

/** A text, a button, and the translation as it comes. */
class MainActivity : Activity(), TranslationView {
    private lateinit var source: EditText
    private lateinit var button: Button
    private lateinit var target: TextView
    private var running = false

    private val translations get() = (application as SampleApplication).translations

    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        setContentView(layout())
        translations.restore(savedInstanceState?.getTranslation())
        translations.attach(this)
    }

    override fun onSaveInstanceState(outState: Bundle) {
        super.onSaveInstanceState(outState)
        outState.putTranslation(translations.save())
    }

    override fun onDestroy() {
        translations.detach(this)
        super.onDestroy()
    }

    override fun show(text: String, running: Boolean, error: String?) {
        this.running = running
        target.text = error ?: text
        button.setText(if (running) R.string.cancel else R.string.translate)
    }

    private fun pressed() {
        if (running) translations.cancel() else translations.translate(source.text.toString())
    }

    private fun layout(): LinearLayout {
        source = EditText(this).apply {
            id = R.id.source // so that Android keeps what was typed
            setText(R.string.example)
        }
        button = Button(this).apply {
            id = R.id.translate
            setText(R.string.translate)
            setOnClickListener { pressed() }
        }
        target = TextView(this).apply {
            id = R.id.target
            textSize = 20f
        }
        return LinearLayout(this).apply {
            orientation = LinearLayout.VERTICAL
            listOf(source, button, target).forEach(::addView)
        }
    }
}
