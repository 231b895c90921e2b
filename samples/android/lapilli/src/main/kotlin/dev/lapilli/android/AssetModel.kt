package dev.lapilli.android

import android.content.res.AssetFileDescriptor
import android.content.res.AssetManager
import dev.lapilli.ModelFiles
import dev.lapilli.ModelSource
import java.io.FileNotFoundException

/**
 * A model whose files are the assets of [folder], read where they lie in the APK. They must be stored without compression:
 * `androidResources { noCompress += ... }` in the app's build names their types.
 */
class AssetModel(private val assets: AssetManager, private val folder: String) : ModelSource {
    override fun open(): ModelFiles {
        val names = assets.list(folder).orEmpty()
        if (names.isEmpty()) throw FileNotFoundException("the app has no assets in $folder")
        val files = ModelFiles()
        try {
            for (name in names) add(files, name)
        } catch (error: Throwable) {
            files.close()
            throw error
        }
        return files
    }

    private fun add(files: ModelFiles, name: String) {
        val asset = descriptor("$folder/$name")
        files.owns(asset)
        files.add(name, asset.parcelFileDescriptor.fd, asset.startOffset, asset.length)
    }

    private fun descriptor(path: String): AssetFileDescriptor =
        try {
            assets.openFd(path)
        } catch (error: FileNotFoundException) {
            val type = path.substringAfterLast('.')
            val advice = "add \"$type\" to androidResources.noCompress"
            throw FileNotFoundException("the asset $path is compressed: $advice").initCause(error)
        }
}
