// Words of an inbox (state_words.glsl) for prompts that come in parts, between steps of other sentences: shared by
// kernels and C++ like that file. A sentence enters with its first part, enters again with each further one, and goes to
// the queue with its last.
CONSTANT uint INBOX_QUEUED = 6u;        // sentences that enter the queue, the first ones
CONSTANT uint INBOX_PARTS_OFFSET = 7u;  // a part for each sentence
// A part: the prompt ids [begin, end) that stand at the sentence's offset.
CONSTANT uint INBOX_PART_BEGIN = 0u, INBOX_PART_END = 1u, INBOX_PART = 2u;
