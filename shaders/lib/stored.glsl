// Values as a checkpoint stores them, little-endian in words; the numbers are those of lapilli::StoredFormat. All
// arithmetic is integer, so that no driver flushes subnormals or alters infinities.
const uint STORED_F32 = 0u, STORED_F16 = 1u, STORED_BF16 = 2u;

// The bits of a 32-bit float with the value of a half.
uint half_bits(uint h) {
  uint sign = (h & 0x8000u) << 16, rest = h & 0x7fffu;
  if (rest >= 0x7c00u) return sign | 0x7f800000u | ((rest & 0x3ffu) << 13);
  if (rest >= 0x400u) return sign | ((rest << 13) + 0x38000000u);
  if (rest == 0u) return sign;
  // Subnormal: the leading one moves to where a float has its implicit one.
  int top = findMSB(rest);
  return sign | (uint(top + 103) << 23) | ((rest << uint(23 - top)) & 0x7fffffu);
}

// Index of the word that holds element i.
uint stored_word(uint format, uint i) { return format == STORED_F32 ? i : i >> 1; }
// Bits of element i, given that word.
uint stored_bits(uint format, uint word, uint i) {
  if (format == STORED_F32) return word;
  uint h = (i & 1u) != 0u ? word >> 16 : word & 0xffffu;
  return format == STORED_F16 ? half_bits(h) : h << 16;
}
