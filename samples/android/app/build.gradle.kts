plugins {
    id("com.android.application")
    id("org.jetbrains.kotlin.android")
}

// Lapilli's sources, if the sample was copied away from them: -PlapilliSource=...
val lapilliSource = providers.gradleProperty("lapilliSource").orElse("../../..").get()

// The bundled model, as assets: the files that a model is, without its pages about itself.
val modelAssets = tasks.register<Copy>("modelAssets") {
    from("$lapilliSource/models/en-fr") {
        include("config.json", "generation_config.json", "tokenizer_config.json", "vocab.json", "*.safetensors", "*.spm")
    }
    into(layout.buildDirectory.dir("model/en-fr"))
}

android {
    namespace = "dev.lapilli.sample"
    compileSdk = 34

    defaultConfig {
        applicationId = "dev.lapilli.sample"
        minSdk = 24
        targetSdk = 34
        versionCode = 1
        versionName = "1.0"
    }

    sourceSets["main"].assets.srcDir(layout.buildDirectory.dir("model"))
    // Read by descriptor, so stored as they are.
    androidResources { noCompress += listOf("json", "safetensors", "spm") }

    compileOptions {
        sourceCompatibility = JavaVersion.VERSION_1_8
        targetCompatibility = JavaVersion.VERSION_1_8
    }
    kotlinOptions { jvmTarget = "1.8" }
}

tasks.named("preBuild") { dependsOn(modelAssets) }

dependencies { implementation(project(":lapilli")) }
