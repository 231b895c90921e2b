#include "formats/readers.hpp"

namespace lapilli {

PytorchForm pytorch_form(const MappedFile& file) {
  const auto bytes = file.bytes();
  const auto at = [&](size_t i) { return std::to_integer<int>(bytes[i]); };
  if (bytes.size() < 4) return PytorchForm::none;
  if (at(0) == 'P' && at(1) == 'K') return PytorchForm::zip;
  return at(0) == 0x80 && at(1) >= 2 && at(1) <= 5 && at(2) != 0 ? PytorchForm::stream : PytorchForm::none;
}

Result<std::vector<StoredTensor>> read_pytorch(const MappedFile& file) {
  return fail(ErrorCode::unsupported, "%s: PyTorch checkpoints are not read yet", file.path().c_str());
}

}  // namespace lapilli
