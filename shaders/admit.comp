#version 450
// Admits new sentences: copies what the host put in the inbox to their slots and appends the slots to the queue, except
// those of sentences whose prompts go on in a later inbox. STAGE 0, one workgroup per sentence (the first also handles
// cancellations): options, search state, queue. STAGE 1, one workgroup per beam slot: the lineage of the prompt ids, in
// both parities. STAGE 2: source lengths and blocks of lists.
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
#include "state.glsl"
#define CONSTANT const
#include "inbox_parts.glsl"
#undef CONSTANT
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Inbox { uint inbox[]; };
#if STAGE == 0
layout(std430, set = 0, binding = 1) writeonly buffer Search { uint search[]; };
layout(std430, set = 0, binding = 2) buffer Step { uint step_words[]; };
#elif STAGE == 1
layout(std430, set = 0, binding = 1) writeonly buffer Lineage { uint lineage[]; };
#else
layout(std430, set = 0, binding = 1) writeonly buffer Lists { uint lists[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Lengths { uint lengths[]; };
#endif
layout(push_constant) uniform P {
  uint groups;
  uint beam_slots, positions, beams, slots;
  uint room;  // sentence capacity of the inbox
  uint list_words;
} p;

#if STAGE == 0
void cancel() {
  uint offset = inbox[INBOX_CANCELLED_OFFSET], n = min(inbox[INBOX_CANCELLED], p.slots);
  for (uint i = gl_LocalInvocationIndex; i < n; i += 64u) {
    uint slot = inbox[offset + i];
    if (slot < p.slots) search[search_record(slot, p.beams) + SEARCH_STATUS] = STATUS_NONE;
  }
}

void enter(uint sentence, bool queued) {
  uint lane = gl_LocalInvocationIndex, entry = inbox_entry_at(sentence), slot = inbox[entry + INBOX_SLOT];
  if (slot >= p.slots) return;
  uint none = floatBitsToUint(NO_SCORE), stride = search_stride(p.beams), base = search_record(slot, p.beams);
  uint params = entry + INBOX_PARAMS, running = search_running(0u), finished = search_finished_entry(p.beams, 0u);
  for (uint word = lane; word < stride; word += 64u) {
    uint value = 0u;
    if (word < PARAM_WORDS) value = inbox[params + word];
    if (word == SEARCH_STATUS) value = queued ? STATUS_WAITING : STATUS_NONE;
    if (word == SEARCH_POSITION) value = max(inbox[params + P_PREFIX], 1u) - 1u;
    // Only the first beam counts at first; otherwise all beams would find the same candidates.
    if (word > running && word < finished) value = none;
    if (word >= finished && (word - finished) % FINISHED_WORDS == FINISHED_SCORE) value = none;
    search[base + word] = value;
  }
  if (lane == 0u && queued) step_words[step_queue_word(step_words[STEP_QUEUED] + sentence)] = slot;
}
#endif

void main() {
  uint g = group_index(), lane = gl_LocalInvocationIndex;
  if (g >= p.groups) return;
  uint sentences = min(inbox[INBOX_SENTENCES], p.room);
#if STAGE == 0
  uint queued = min(inbox[INBOX_QUEUED], sentences);
  if (g == 0u) {
    cancel();
    if (lane == 0u) {
      step_words[STEP_ADMITTED] = queued;
      step_words[STEP_MARK] = inbox[INBOX_MARK];
    }
  } else if (g <= sentences) {
    enter(g - 1u, g <= queued);
  }
#elif STAGE == 1
  uint sentence = g / p.beams;
  if (sentence >= sentences) return;
  uint entry = inbox_entry_at(sentence), first = inbox[entry + INBOX_SLOT] * p.beams;
  uint beam_slot = first + g % p.beams;
  if (beam_slot >= p.beam_slots) return;
  uint given = min(inbox[entry + INBOX_PARAMS + P_PREFIX], p.positions), ids = inbox[entry + INBOX_PROMPT_OFFSET];
  uint part = inbox[INBOX_PARTS_OFFSET] + INBOX_PART * sentence, begin = inbox[part + INBOX_PART_BEGIN];
  uint end = min(inbox[part + INBOX_PART_END], given);
  for (uint i = begin + lane; i < end; i += 64u) {
    // The prefix shared by all hypotheses is computed once, in the first beam slot.
    uint holder = i + 1u < given ? first : beam_slot;
    for (uint parity = 0u; parity < 2u; ++parity) {
      lineage[lineage_word(parity, LINEAGE_ANCESTRY, beam_slot, i, p.beam_slots, p.positions)] = holder;
      lineage[lineage_word(parity, LINEAGE_TOKENS, beam_slot, i, p.beam_slots, p.positions)] = inbox[ids + i - begin];
    }
  }
#else
  if (g == 0u) {
    for (uint i = lane; i < sentences; i += 64u) {
      uint entry = inbox_entry_at(i), slot = inbox[entry + INBOX_SLOT];
      if (slot >= p.slots) continue;
      lengths[2u * slot] = inbox[entry + INBOX_SOURCE_BEGIN];
      lengths[2u * slot + 1u] = inbox[entry + INBOX_SOURCE_END];
    }
  }
  uint blocks = inbox[INBOX_BLOCKS], offset = inbox[INBOX_BLOCKS_OFFSET];
  for (uint b = g; b < blocks; b += p.groups) {
    uint block = offset + INBOX_BLOCK * b, words = inbox[block + INBOX_BLOCK_SIZE];
    uint to = inbox[block + INBOX_BLOCK_TO], from = inbox[block + INBOX_BLOCK_FROM];
    for (uint i = lane; i < words && to + i < p.list_words; i += 64u) lists[to + i] = inbox[from + i];
  }
#endif
}
