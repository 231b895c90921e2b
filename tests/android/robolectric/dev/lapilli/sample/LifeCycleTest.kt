package dev.lapilli.sample

import android.content.ComponentCallbacks2.TRIM_MEMORY_COMPLETE
import android.content.ComponentCallbacks2.TRIM_MEMORY_RUNNING_LOW
import android.os.Bundle
import android.os.Looper
import android.widget.Button
import android.widget.EditText
import android.widget.TextView
import dev.lapilli.Translation
import dev.lapilli.android.translate
import dev.lapilli.liveHandles
import org.junit.After
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertTrue
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.Robolectric
import org.robolectric.RobolectricTestRunner
import org.robolectric.RuntimeEnvironment
import org.robolectric.Shadows.shadowOf
import org.robolectric.android.controller.ActivityController
import org.robolectric.annotation.Config
import java.lang.ref.WeakReference

private const val GARE = "Où est la gare ?"

/** Its later sentences are at work for long after the first has ended. */
private const val LONG = "Where is the station? My brother, who lives in a small house by the sea, told me that he would come to" +
    " see us next week if the weather was good. She said that she had never seen such a beautiful garden, and that she wanted" +
    " to have one like it some day."

/** The sample's own screen and application through what Android does to them; the bridge and the library are the real ones. */
@RunWith(RobolectricTestRunner::class)
@Config(sdk = [34], application = TestApplication::class)
class LifeCycleTest {
    private val application get() = RuntimeEnvironment.getApplication() as TestApplication
    private val translator get() = application.translations.translator()

    /** A test that leaves a device, a model or a job open has failed. */
    @After
    fun end() {
        application.translations.close()
        assertEquals(0, liveHandles())
    }

    /** Lets the main thread run until [done]; what never comes ends with the test's time. */
    private fun await(done: () -> Boolean) {
        while (!done()) {
            shadowOf(Looper.getMainLooper()).idle()
            Thread.sleep(1)
        }
    }

    private fun open(): ActivityController<MainActivity> = Robolectric.buildActivity(MainActivity::class.java).setup()

    private fun MainActivity.text() = (findViewById(R.id.target) as TextView).text.toString()

    private fun MainActivity.button() = findViewById(R.id.translate) as Button

    private fun MainActivity.source() = findViewById(R.id.source) as EditText

    private fun MainActivity.isRunning() = button().text == getString(R.string.cancel)

    private fun MainActivity.begin(text: String) {
        source().setText(text)
        button().performClick()
        assertTrue(isRunning())
    }

    private fun MainActivity.translated(text: String): String {
        begin(text)
        await { !isRunning() }
        return text()
    }

    private fun MainActivity.beginAndAwaitText() {
        begin(LONG)
        await { text().isNotEmpty() }
    }

    @Test
    fun translatesWhatItIsGivenFromItsAssets() {
        assertEquals(GARE, open().get().translated("Where is the station?"))
        await { application.cacheDir.resolve("lapilli").walk().any { it.length() > 0 && it.isFile } }
    }

    @Test
    fun translatesWithoutHolderAndScreen() {
        var text = ""
        var ended: Translation? = null
        application.newTranslator().use {
            it.translate("Where is the station?", onText = { so -> text = so }, onEnd = { how -> ended = how })
            await { ended != null }
        }
        assertEquals(GARE, text)
        assertEquals(Translation.State.DONE, ended?.state())
    }

    @Test
    fun turnedInMidSentence() {
        val screen = open()
        val whole = screen.get().translated(LONG)
        val gone = mutableListOf<WeakReference<MainActivity>>()
        repeat(5) {
            gone += WeakReference(screen.get())
            screen.get().beginAndAwaitText()
            screen.recreate()
            assertFalse(translator.usage().paused)
            assertTrue(screen.get().text().isNotEmpty())
            await { !screen.get().isRunning() }
            assertEquals(whole, screen.get().text())
        }
        gone.forEach(::awaitCollected)
    }

    private fun awaitCollected(gone: WeakReference<MainActivity>) {
        var turns = 0
        await {
            System.gc()
            assertTrue("a screen that went is held", ++turns < 1000)
            gone.get() == null
        }
    }

    @Test
    fun sentToTheBackgroundAndBack() {
        val screen = open()
        val whole = screen.get().translated(LONG)
        screen.get().beginAndAwaitText()
        screen.pause().stop()
        assertTrue(translator.usage().paused)
        application.onTrimMemory(TRIM_MEMORY_COMPLETE)
        screen.restart().start().resume()
        assertFalse(translator.usage().paused)
        await { !screen.get().isRunning() }
        assertEquals(whole, screen.get().text())
    }

    @Test
    fun givesMemoryBackAndTakesItAgain() {
        val screen = open()
        screen.get().translated(LONG)
        assertTrue(translator.usage().sessionBytes > 0)
        application.onTrimMemory(TRIM_MEMORY_RUNNING_LOW)
        assertEquals(0, translator.usage().sessionBytes)
        assertTrue(translator.usage().weightBytes > 0)
        application.onLowMemory()
        await { translator.usage().weightBytes == 0L }
        assertEquals(GARE, screen.get().translated("Where is the station?"))
    }

    @Test
    fun killedAndRestored() {
        val screen = open()
        val whole = screen.get().translated(LONG)
        screen.get().beginAndAwaitText()
        val kept = Bundle()
        screen.pause().stop().saveInstanceState(kept).destroy()
        application.killAndBegin()
        val next = Robolectric.buildActivity(MainActivity::class.java).setup(kept)
        assertEquals(LONG, next.get().source().text.toString())
        assertTrue(next.get().isRunning())
        await { !next.get().isRunning() }
        assertEquals(whole, next.get().text())
    }

    @Test
    fun cancelled() {
        val screen = open()
        val whole = screen.get().translated(LONG)
        screen.get().beginAndAwaitText()
        screen.get().button().performClick()
        await { !screen.get().isRunning() }
        assertTrue(screen.get().text() != whole && whole.startsWith(screen.get().text()))
    }
}
