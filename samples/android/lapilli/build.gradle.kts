// dev.lapilli.Translator as an AAR: ./gradlew :lapilli:assembleRelease
plugins {
    id("com.android.library")
    id("org.jetbrains.kotlin.android")
}

android {
    namespace = "dev.lapilli"
    compileSdk = 34
    ndkVersion = "27.0.12077973"

    defaultConfig {
        minSdk = 24
        consumerProguardFiles("consumer-rules.pro")
        ndk { abiFilters += listOf("arm64-v8a", "armeabi-v7a", "x86_64") }
        externalNativeBuild {
            cmake {
                // Enough for Marian models. Others (docs/embed/packages.md) want utf8proc and PCRE2 built for Android, too.
                arguments += listOf(
                    "-DANDROID_STL=c++_static",
                    "-DANDROID_SUPPORT_FLEXIBLE_PAGE_SIZES=ON",
                    "-DLAPILLI_BUILD_CLI=OFF",
                    "-DLAPILLI_UNICODE=OFF",
                    "-DLAPILLI_REGEX=OFF",
                    "-DLAPILLI_IMAGES=OFF",
                )
                // Headers alone, the same for every system, in a folder that has nothing else: -PnlohmannJson=DIR
                providers.gradleProperty("nlohmannJson").orNull?.let { arguments += "-DNLOHMANN_JSON_DIR=$it" }
                // If the sample was copied away from Lapilli's sources.
                providers.gradleProperty("lapilliSource").orNull?.let { arguments += "-DLAPILLI_SOURCE=$it" }
                targets += "lapilli_jni"
            }
        }
    }

    externalNativeBuild {
        cmake {
            path = file("src/main/cpp/CMakeLists.txt")
            version = "3.22.1+"
        }
    }

    compileOptions {
        sourceCompatibility = JavaVersion.VERSION_1_8
        targetCompatibility = JavaVersion.VERSION_1_8
    }
    kotlinOptions { jvmTarget = "1.8" }
}
