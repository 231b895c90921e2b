# Shared by kotlin-test and apk-test, sourced in the repository's root with $work, an empty folder: fetches what pom.xml lists,
# compiles the sample, and packs its resources and assets. POSIX sh.

skip() { echo "SKIP: $*" && exit 77; }

# fetch: $classpath is all that was fetched, one file behind the other with colons; archives of classes are unpacked.
fetch() {
  [ -z "${LAPILLI_OFFLINE:-}" ] || skip "LAPILLI_OFFLINE forbids to fetch a Kotlin compiler and Android's framework"
  for tool in javac:openjdk-17-jdk-headless mvn:maven aapt2:aapt zipalign:zipalign apksigner:apksigner; do
    command -v "${tool%%:*}" >/dev/null || skip "there is no ${tool%%:*} (Debian: ${tool#*:})"
  done
  mvn -q -B -f tests/android/pom.xml org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath \
    -Dmdep.outputFile="$work/classpath" >"$work/log" 2>&1 ||
    skip "Maven could not get what tests/android/pom.xml lists: $(grep -m 1 ERROR "$work/log")"
  classpath=
  for file in $(tr : ' ' <"$work/classpath"); do
    case $file in
    *.aar)
      archive=$work/$(basename "$file" .aar)
      mkdir "$archive"
      (cd "$archive" && jar xf "$file" classes.jar)
      file=$archive/classes.jar
      ;;
    esac
    classpath=$classpath:$file
  done
  classpath=${classpath#:}
}

# fetched NAME...: those files of the classpath that are called so, up to the version.
fetched() {
  for name; do
    echo "$classpath" | tr : '\n' | grep "/$name-[0-9][^/]*[.]jar\$" || { echo "nothing fetched is $name" >&2 && exit 1; }
  done | paste -s -d :
}

kotlinc() {
  java -Xmx1g -cp "$(fetched kotlin-compiler-embeddable kotlin-stdlib kotlin-script-runtime kotlin-reflect \
    kotlin-daemon-embeddable trove4j annotations)" org.jetbrains.kotlin.cli.jvm.K2JVMCompiler -no-stdlib -no-reflect -jvm-target 1.8 -Werror "$@"
}

# compile_sample: into $work/app.apk go the manifest, resources and the model as assets; into $work/classes library and app,
# compiled with the framework of the least version that they run on.
compile_sample() {
  sample=samples/android
  mkdir -p "$work/assets/en-fr" "$work/generated" "$work/classes"
  (cd models/en-fr && cp config.json generation_config.json tokenizer_config.json vocab.json ./*.safetensors ./*.spm \
    "$work/assets/en-fr")
  # Gradle puts the package there.
  sed 's/<manifest /&package="dev.lapilli.sample" /' $sample/app/src/main/AndroidManifest.xml >"$work/AndroidManifest.xml"
  framework=$(fetched android-all)
  aapt2 compile --dir $sample/app/src/main/res -o "$work/resources.zip"
  aapt2 link -I "$framework" --manifest "$work/AndroidManifest.xml" --java "$work/generated" -A "$work/assets" -0 .json \
    -0 .safetensors -0 .spm --min-sdk-version 24 --target-sdk-version 34 --version-code 1 --version-name 1.0 -o "$work/app.apk" "$work/resources.zip"
  javac --release 8 -Xlint:-options -d "$work/classes" $sample/lapilli/src/main/java/dev/lapilli/*.java \
    "$work/generated/dev/lapilli/sample/R.java"
  kotlinc -cp "$work/classes:$framework:$(fetched kotlin-stdlib)" -d "$work/classes" $sample/lapilli/src/main/kotlin \
    $sample/app/src/main/kotlin
}
