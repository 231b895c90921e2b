// Shared by greedy_step and beam_step: how a sentence ends, and what a row writes to lineage and log. Needs push
// constants `p` with beam slots, positions, log_rows and ticks.
layout(std430, set = 0, binding = 2) buffer Lineage { uint lineage[]; };
layout(std430, set = 0, binding = 3) writeonly buffer Log { uint log_words[]; };

// A row at position t produces the id at t + 1, which makes t + 2 ids in total.
bool reaches_limit(const uint t) { return t + 2u >= param(P_MAX_LENGTH); }
uint generated_with(const uint t) { return t + 2u - param(P_PREFIX); }

uint lineage_at(const uint parity, const uint plane, const uint beam_slot, const uint position) {
  return lineage_word(parity, plane, beam_slot, position, p.beam_slots, p.positions);
}
// At t + 1 the beam slot continues its own cache with the new id.
void append_token(const uint beam_slot, const uint t, const uint token) {
  uint parity = lineage_parity(t + 1u);
  lineage[lineage_at(parity, LINEAGE_ANCESTRY, beam_slot, t + 1u)] = beam_slot;
  lineage[lineage_at(parity, LINEAGE_TOKENS, beam_slot, t + 1u)] = token;
}

uint log_entry_of(const uint row) { return log_row_at(step_word(STEP_TICK), p.ticks, p.log_rows) + log_entry_at(row); }
// Writes the whole entry except the finished hypothesis.
void write_log(const uint entry, const uint row, const uint token, const uint parent, const uint running,
               const uint note) {
  log_words[entry + LOG_TOKEN] = token;
  log_words[entry + LOG_ROW] = row_word(row);
  log_words[entry + LOG_PARENT] = parent;
  log_words[entry + LOG_RUNNING] = running;
  log_words[entry + LOG_NOTE] = note;
  log_words[entry + LOG_OCCUPANT] = param(P_MARK);
}
