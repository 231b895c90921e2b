package dev.lapilli;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;

/**
 * JniTest MODEL WORK [brief]: the bridge and what stands on it, on a desktop's JVM. WORK is an empty folder. brief: shorter texts
 * and fewer rotations, for drivers on which all of it is many minutes; what is checked is the same. 1 if anything is wrong.
 */
public final class JniTest {
  static final String STATION = "Where is the station?";
  static final String GARE = "Où est la gare ?";
  static final String TWO = STATION + " I have never seen such a beautiful garden.";
  static final String THREE =
      STATION
          + " My brother, who lives in a small house by the sea, told me that he would come to see us next week if the"
          + " weather was good. She said that she had never seen such a beautiful garden, and that she wanted to have one"
          + " like it some day.";
  static final Executor HERE = Runnable::run;

  interface Case {
    void run() throws Exception;
  }

  static Path model, work;
  /** Its later sentences are at work for long after the first has ended. */
  static String longText = THREE;
  static int rotations = 50;
  /** Shared by several cases, since a slow driver takes seconds to make one; with it, its translation of the long text. */
  static Translator shared;
  static String whole;
  static int failures;

  public static void main(String[] args) throws Exception {
    model = Path.of(args[0]);
    work = Path.of(args[1]);
    if (args.length > 2 && args[2].equals("brief")) {
      longText = TWO;
      rotations = 5;
    }
    check("numbers that stand for nothing", JniTest::wrongNumbers);
    check("wrong arguments", JniTest::wrongArguments);
    check("model by descriptor", JniTest::descriptors);
    check("errors", JniTest::errors);
    shared = translator();
    checkShared("stream", JniTest::stream);
    checkShared("text beyond the BMP", JniTest::emoji);
    checkShared("cancel", JniTest::cancel);
    checkShared("pause in mid-job", JniTest::pause);
    checkShared("cancel in a pause", JniTest::cancelInPause);
    checkShared("trim and unload", JniTest::trim);
    check("close in a pause", JniTest::closeInPause);
    check("pause before there is a device", JniTest::pauseEarly);
    check(rotations + " rotations", JniTest::rotations);
    check("background, low memory, killed and restored", JniTest::lifeCycle);
    check("cache directory", JniTest::cache);
    System.out.println(failures == 0 ? "all is well" : failures + " failed");
    System.exit(failures == 0 ? 0 : 1);
  }

  /** A case that leaves a device, a model or a job open has failed. */
  static void check(String name, Case what) {
    check(name, 0, what);
  }

  /** One that leaves anything but the device and the model has; those behind it get another translator. */
  static void checkShared(String name, Case what) {
    if (check(name, 2, what)) return;
    shared.close();
    shared = translator();
  }

  static boolean check(String name, int handles, Case what) {
    String wrong = null;
    long begun = System.nanoTime();
    try {
      what.run();
      if (Native.liveHandles() != handles) wrong = Native.liveHandles() + " handles are left";
    } catch (Throwable error) {
      wrong = error.toString() + " at " + error.getStackTrace()[0] + ", " + error.getStackTrace()[1];
    }
    if (wrong != null) ++failures;
    long seconds = (System.nanoTime() - begun) / 1_000_000_000;
    String end = wrong == null ? " (" + seconds + " s)" : ": " + wrong;
    System.out.println((wrong == null ? "ok    " : "WRONG ") + name + end);
    return wrong == null;
  }

  static void expect(boolean right, String what) {
    if (!right) throw new AssertionError(what);
  }

  static void expectEqual(Object expected, Object is) {
    expect(expected.equals(is), "expected \"" + expected + "\", not \"" + is + "\"");
  }

  static TranslatorException refused(Case what) throws Exception {
    try {
      what.run();
    } catch (TranslatorException error) {
      expect(!error.getMessage().isEmpty(), "an error without a message");
      return error;
    }
    throw new AssertionError("not refused");
  }

  static TranslatorOptions options() {
    TranslatorOptions options = new TranslatorOptions();
    // So that a text comes in many pieces.
    options.maxSubmitMicros = 2000;
    options.beams = 1;
    return options;
  }

  static ModelSource directory(Path path) {
    return () -> ModelFiles.directory(path.toString());
  }

  static Translator translator() {
    return new Translator(directory(model), options());
  }

  static Translation await(Translation translation) throws InterruptedException {
    Semaphore ended = new Semaphore(0);
    translation.attach(new Recorder(null, ended::release), HERE);
    ended.acquire();
    return translation;
  }

  static Translation done(Translation translation) throws InterruptedException {
    await(translation);
    String why = translation.error() == null ? "" : translation.error().getMessage();
    expect(translation.state() == Translation.State.DONE, translation.state() + " " + why);
    return translation;
  }

  /** Keeps what it is told; does something at the first text, and at the end. */
  static final class Recorder implements TranslationListener {
    final List<String> texts = new ArrayList<>();
    private final Runnable first, end;

    Recorder(Runnable first, Runnable end) {
      this.first = first;
      this.end = end;
    }

    @Override
    public void onText(Translation translation, String text) {
      texts.add(text);
      if (texts.size() == 1 && first != null) first.run();
    }

    @Override
    public void onEnd(Translation translation) {
      if (end != null) end.run();
    }
  }

  // ---- the bridge alone

  static void wrongNumbers() throws Exception {
    byte[][] three = new byte[3][];
    for (long number : new long[] {0, -1, 1, 256, 257, Long.MAX_VALUE, Long.MIN_VALUE}) {
      refused(() -> Native.pauseDevice(number));
      refused(() -> Native.resumeDevice(number));
      refused(() -> Native.trimDevice(number));
      refused(() -> Native.deviceUsage(number, new long[7]));
      refused(() -> Native.startLoad(number, new byte[1][], null, 0));
      refused(() -> Native.pumpLoad(number, 0));
      refused(() -> Native.takeModel(number));
      refused(() -> Native.storeCache(number));
      refused(() -> Native.startJob(number, new byte[0], three, new int[2]));
      refused(() -> Native.waitJob(number, 0));
      refused(() -> Native.cancelJob(number));
      refused(() -> Native.nextEvent(number, new long[3]));
      Native.close(number);
    }
  }

  static void wrongArguments() throws Exception {
    long device = Native.openDevice(null, null, 0, 0);
    refused(() -> Native.deviceUsage(device, null));
    refused(() -> Native.deviceUsage(device, new long[6]));
    refused(() -> Native.pumpLoad(device, 0)); // of another kind
    refused(() -> Native.startLoad(device, new byte[][] {null}, new long[3], 0)); // a file without a name
    refused(() -> Native.startLoad(device, new byte[2][], new long[3], 0));
    long load = Native.startLoad(device, new byte[][] {LoadedModel.bytes(model.toString())}, null, 0);
    refused(() -> Native.takeModel(load)); // has not ended
    while (!Native.pumpLoad(load, 10000)) {}
    long loaded = Native.takeModel(load);
    byte[] text = LoadedModel.bytes(STATION);
    refused(() -> Native.startJob(loaded, null, new byte[3][], new int[] {-1, -1}));
    refused(() -> Native.startJob(loaded, text, null, new int[] {-1, -1}));
    refused(() -> Native.startJob(loaded, text, new byte[3][], null));
    refused(() -> Native.startJob(loaded, text, new byte[3][], new int[] {-7, -1}));
    for (long number : new long[] {device, load, loaded}) Native.close(number);
    refused(() -> Native.pauseDevice(device));
  }

  // ---- translations

  static void stream() throws Exception {
    Recorder recorder = new Recorder(null, null);
    Translation translation = shared.translate(STATION);
    Semaphore ended = new Semaphore(0);
    translation.attach(new Recorder(null, ended::release), HERE);
    ended.acquire();
    expectEqual(GARE, translation.text());
    // A view that is attached late gets the whole text, and the end.
    translation.attach(recorder, HERE);
    expectEqual(List.of(GARE), recorder.texts);
    expectGrowing();
  }

  static void expectGrowing() throws Exception {
    Semaphore ended = new Semaphore(0);
    Recorder recorder = new Recorder(null, ended::release);
    Translation translation = shared.translate(longText);
    translation.attach(recorder, HERE);
    ended.acquire();
    whole = translation.text();
    expect(recorder.texts.size() > 3, "a long text came in " + recorder.texts.size() + " pieces");
    for (int i = 1; i < recorder.texts.size(); ++i)
      expect(recorder.texts.get(i).startsWith(recorder.texts.get(i - 1)), "text was taken back");
    expectEqual(whole, recorder.texts.get(recorder.texts.size() - 1));
    expect(whole.startsWith(GARE), whole);
  }

  static void emoji() throws Exception {
    String smile = "😀 \uD83D\uDE00 12"; // nothing to translate: it is kept
    expectEqual(smile, done(shared.translate(smile)).text());
    expectEqual("?", done(shared.translate("\uD83D")).text()); // half of a pair is no text
    expectEqual("", done(shared.translate("")).text());
  }

  /** The model's files one behind the other in one file, as in an APK. */
  static void descriptors() throws Exception {
    List<String> names = new ArrayList<>();
    List<Long> ends = new ArrayList<>();
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.write(new byte[4096]);
    for (File file : model.toFile().listFiles()) {
      names.add(file.getName());
      all.write(Files.readAllBytes(file.toPath()));
      ends.add((long) all.size());
    }
    Path pack = work.resolve("pack");
    Files.write(pack, all.toByteArray());
    try (Translator translator = new Translator(() -> openPack(pack, names, ends), options())) {
      expectEqual(GARE, done(translator.translate(STATION)).text());
      translator.unload();
      expectEqual(GARE, done(translator.translate(STATION)).text());
    }
    expect(!isOpen(pack), "the files are left open");
  }

  static ModelFiles openPack(Path pack, List<String> names, List<Long> ends) throws IOException {
    FileInputStream stream = new FileInputStream(pack.toFile());
    ModelFiles files = new ModelFiles().owns(stream);
    long begin = 4096;
    for (int i = 0; i < names.size(); ++i) {
      files.add(names.get(i), number(stream.getFD()), begin, ends.get(i) - begin);
      begin = ends.get(i);
    }
    return files;
  }

  static int number(FileDescriptor descriptor) {
    try {
      Field field = FileDescriptor.class.getDeclaredField("fd");
      field.setAccessible(true);
      return field.getInt(descriptor);
    } catch (ReflectiveOperationException error) {
      throw new AssertionError(error);
    }
  }

  static boolean isOpen(Path file) throws IOException {
    for (File link : new File("/proc/self/fd").listFiles())
      if (leadsTo(link, file.toRealPath())) return true;
    return false;
  }

  static boolean leadsTo(File link, Path file) {
    try {
      return Files.readSymbolicLink(link.toPath()).equals(file);
    } catch (IOException closed) { // since the folder was listed
      return false;
    }
  }

  static void errors() throws Exception {
    Path missing = work.resolve("no-model-😀");
    try (Translator translator = new Translator(directory(missing), options())) {
      Translation translation = await(translator.translate(STATION));
      expectEqual(Translation.State.FAILED, translation.state());
      expectEqual(TranslatorException.NOT_FOUND, translation.error().status());
      expect(translation.error().getMessage().contains("no-model-😀"), translation.error().getMessage());
    }
    ModelSource broken =
        () -> {
          throw new IOException("no such asset");
        };
    try (Translator translator = new Translator(broken, options())) {
      Translation translation = await(translator.translate(STATION));
      expect(translation.error().getMessage().contains("no such asset"), translation.error().getMessage());
    }
    TranslatorOptions none = options();
    none.device = "no device has this name";
    Translator translator = new Translator(directory(model), none);
    expectEqual(TranslatorException.NO_DEVICE, await(translator.translate(STATION)).error().status());
    translator.close();
    expect(await(translator.translate(STATION)).error().getMessage().contains("closed"), "not said to be closed");
    translator.close();
  }

  static void cancel() throws Exception {
    Translation translation = shared.translate(longText);
    Semaphore ended = new Semaphore(0);
    translation.attach(new Recorder(translation::cancel, ended::release), HERE);
    Translation waiting = shared.translate(longText);
    waiting.cancel();
    ended.acquire();
    expectEqual(Translation.State.CANCELLED, translation.state());
    expect(whole.startsWith(translation.text()) && translation.text().length() < whole.length(), "it went on");
    expectEqual(Translation.State.CANCELLED, await(waiting).state());
    expectEqual("", waiting.text());
    expectEqual(GARE, done(shared.translate(STATION)).text());
  }

  /** A translation that stands still behind its first text: the translator was paused from within. */
  static Translation paused(Semaphore ended) throws InterruptedException {
    Semaphore stands = new Semaphore(0);
    Translation translation = shared.translate(longText);
    Runnable pause =
        () -> {
          shared.pause();
          stands.release();
        };
    translation.attach(new Recorder(pause, ended::release), HERE);
    stands.acquire();
    return translation;
  }

  static void pause() throws Exception {
    Semaphore ended = new Semaphore(0);
    Translation translation = paused(ended);
    expect(shared.usage().paused, "not paused");
    Translation behind = shared.translate(STATION);
    Thread.sleep(300); // can only find too little
    expectEqual(Translation.State.RUNNING, translation.state());
    expect(translation.text().length() < whole.length(), "it was done before the pause");
    expectEqual(Translation.State.RUNNING, behind.state());
    shared.pause();
    shared.trim();
    shared.resume();
    ended.acquire();
    expectEqual(whole, translation.text());
    expectEqual(GARE, done(behind).text());
  }

  static void cancelInPause() throws Exception {
    Semaphore ended = new Semaphore(0);
    Translation translation = paused(ended);
    translation.cancel();
    ended.acquire();
    expectEqual(Translation.State.CANCELLED, translation.state());
    shared.resume();
    expectEqual(GARE, done(shared.translate(STATION)).text());
  }

  static void closeInPause() throws Exception {
    Translation translation = paused(new Semaphore(0));
    shared.close();
    expectEqual(Translation.State.CANCELLED, translation.state());
  }

  static void pauseEarly() throws Exception {
    try (Translator translator = translator()) {
      translator.pause();
      Translation waits = translator.translate(STATION);
      translator.resume();
      expectEqual(GARE, done(waits).text());
    }
  }

  static void trim() throws Exception {
    done(shared.translate(longText));
    DeviceUsage before = shared.usage();
    expect(before.weightBytes > 0 && before.sessionBytes > 0, "nothing is in use");
    shared.trim();
    DeviceUsage after = shared.usage();
    expectEqual(0L, after.sessionBytes);
    expectEqual(before.weightBytes, after.weightBytes);
    expect(after.heldBytes <= before.heldBytes, "more is held than before");
    shared.unload();
    while (shared.usage().weightBytes > 0) Thread.sleep(1);
    expectEqual(GARE, done(shared.translate(STATION)).text());
    expectEqual(before.weightBytes, shared.usage().weightBytes);
  }

  // ---- the life cycle

  static void rotations() throws Exception {
    try (MockHost host = new MockHost()) {
      host.begin(translator(), null);
      host.translate(TWO);
      String both = host.screen.awaitEnd();
      List<WeakReference<MockHost.Screen>> gone = new ArrayList<>();
      DeviceUsage first = null;
      for (int i = 1; i <= rotations; ++i) {
        gone.add(rotateInMidSentence(host, both));
        if (i == Math.min(5, rotations / 2)) first = host.holder.translator().usage();
      }
      DeviceUsage last = host.holder.translator().usage();
      expect(last.inUseBytes() <= first.inUseBytes(), first.inUseBytes() + " bytes grew to " + last.inUseBytes());
      expect(last.heldBytes <= first.heldBytes, first.heldBytes + " bytes held grew to " + last.heldBytes);
      expectEqual(2, Native.liveHandles()); // device and model
      for (WeakReference<MockHost.Screen> screen : gone) awaitCollected(screen);
    }
  }

  static WeakReference<MockHost.Screen> rotateInMidSentence(MockHost host, String both) throws Exception {
    WeakReference<MockHost.Screen> old = new WeakReference<>(host.screen);
    host.translate(TWO);
    host.screen.awaitText();
    host.rotate();
    expectEqual(both, host.screen.awaitEnd());
    return old;
  }

  static void awaitCollected(WeakReference<?> gone) throws InterruptedException {
    for (int i = 0; gone.get() != null; ++i) {
      expect(i < 1000, "a screen that went is held");
      System.gc();
      Thread.sleep(1);
    }
  }

  static void lifeCycle() throws Exception {
    SavedTranslation saved;
    try (MockHost host = new MockHost()) {
      host.begin(translator(), null);
      expect(host.save() == null, "there is something to save");
      host.translate(longText);
      expectEqual(whole, host.screen.awaitEnd());
      host.translate(longText);
      host.screen.awaitText();
      host.toBackground();
      host.trimMemory(TranslationHolder.LEVEL_COMPLETE);
      host.toForeground();
      expectEqual(whole, host.screen.awaitEnd());
      awaitCollected(host.leave());
      host.open();
      expectEqual(whole, host.screen.awaitEnd());
      host.translate(longText);
      host.toBackground();
      saved = host.save(); // and killed
    }
    expect(saved.running && saved.source.equals(longText), "what was running was not saved");
    try (MockHost host = new MockHost()) {
      host.begin(translator(), saved);
      expectEqual(whole, host.screen.awaitEnd());
      saved = host.save();
    }
    try (MockHost host = new MockHost()) {
      host.begin(translator(), saved);
      expectEqual(whole, host.screen.awaitEnd());
      expect(!host.save().running, "what had ended runs again");
    }
  }

  static long bytesBelow(File folder) {
    long sum = 0;
    File[] files = folder.listFiles();
    if (files == null) return 0; // there is no such folder
    for (File file : files) sum += file.isDirectory() ? bytesBelow(file) : file.length();
    return sum;
  }

  static void cache() throws Exception {
    TranslatorOptions cached = options();
    cached.cacheDirectory = work.resolve("caché").toString();
    for (int i = 0; i < 2; ++i)
      try (Translator translator = new Translator(directory(model), cached)) {
        expectEqual(GARE, done(translator.translate(STATION)).text());
        // Stored behind the first, and not only at the translator's end.
        done(translator.translate(STATION));
        expect(bytesBelow(new File(cached.cacheDirectory)) > 0, "nothing was kept");
      }
  }
}
