/* A program made with an earlier header (LAPILLI_OLD_HEADER, of tests/data/abi) and run with the library as it is now.
 * Behind each struct stand bytes that the library must neither read nor write. */
#include LAPILLI_OLD_HEADER

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRANGE 0xA5
/* A struct as that header has it, with something strange behind it. */
#define GUARDED(type, name)    \
  struct {                     \
    type value;                \
    unsigned char behind[128]; \
  } name;                      \
  memset(&name, STRANGE, sizeof name)
#define SIZED(type, name) \
  GUARDED(type, name);    \
  name.value.struct_size = (uint32_t)sizeof(type)
#define UNTOUCHED(name) CHECK(untouched(name.behind, sizeof name.behind))
#define CHECK(what)                                                                               \
  do {                                                                                            \
    if (!(what)) {                                                                                \
      printf("FAILED: line %d: %s; the last error: %s\n", __LINE__, #what, lapilli_last_error()); \
      exit(1);                                                                                    \
    }                                                                                             \
  } while (0)
#define OK(call) CHECK((call) == LAPILLI_OK)

static int untouched(const unsigned char* bytes, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (bytes[i] != STRANGE) return 0;
  }
  return 1;
}

struct streamed {
  char text[256];
  int calls;
};

static int32_t on_stream(void* user, const lapilli_stream_event* event) {
  struct streamed* all = (struct streamed*)user;
  CHECK(event->struct_size >= sizeof(lapilli_stream_event));
  if (event->input == 0) strncat(all->text, event->text, sizeof all->text - strlen(all->text) - 1);
  return 0;
}

static int32_t on_progress(void* user, uint64_t done, uint64_t total) {
  CHECK(done <= total);
  ++((struct streamed*)user)->calls;
  return 0;
}

static void on_log(void* user, int32_t level, const char* message) {
  (void)user;
  if (level <= LAPILLI_LOG_WARNING) printf("%s\n", message);
}

static lapilli_device* open_device(void) {
  GUARDED(lapilli_device_options, options);
  lapilli_device* device = NULL;
  const char* json = NULL;
  options.value = lapilli_default_device_options();
  OK(lapilli_devices_json(&options.value, &json));
  CHECK(json[0] == '[');
  OK(lapilli_device_open(&options.value, &device));
  UNTOUCHED(options);
  return device;
}

static lapilli_model* load_model(lapilli_device* device, const char* directory) {
  GUARDED(lapilli_model_options, options);
  SIZED(lapilli_model_info, info);
  lapilli_model* model = NULL;
  OK(lapilli_model_load(device, directory, &model));
  lapilli_model_free(model);
  options.value = lapilli_default_model_options();
  OK(lapilli_model_load_with(device, directory, &options.value, &model));
  OK(lapilli_model_get_info(model, &info.value));
  CHECK(strcmp(info.value.family, "marian") == 0 && info.value.has_tokenizer);
  CHECK(lapilli_model_language_count(model) == 0 && lapilli_model_language(model, 0) == NULL);
  UNTOUCHED(options);
  UNTOUCHED(info);
  return model;
}

static void check_results(const lapilli_result* result) {
  SIZED(lapilli_sequence, sequence);
  SIZED(lapilli_part, part);
  SIZED(lapilli_stats, stats);
  size_t parts = 0;
  for (size_t input = 0; input < 2; ++input) {
    OK(lapilli_result_get(result, input, 0, &sequence.value));
    CHECK(strcmp(sequence.value.text, "O\xC3\xB9 est la gare ?") == 0);
    CHECK(sequence.value.finish == LAPILLI_FINISH_STOP && sequence.value.token_scores && !sequence.value.repeats);
    CHECK(sequence.value.ids.count == 6 && sequence.value.sequences == 2);
  }
  OK(lapilli_result_parts(result, 0, 0, &parts));
  CHECK(parts == 1);
  OK(lapilli_result_get_part(result, 0, 0, 0, &part.value));
  CHECK(part.value.text_bytes == sequence.value.text_bytes && part.value.finish == LAPILLI_FINISH_STOP);
  OK(lapilli_result_get_stats(result, &stats.value));
  CHECK(stats.value.generated_tokens == 12 && stats.value.total_ms > 0);
  UNTOUCHED(sequence);
  UNTOUCHED(part);
  UNTOUCHED(stats);
}

static void check_attention(lapilli_model* model, const lapilli_result* result) {
  SIZED(lapilli_attention_map, map);
  SIZED(lapilli_attention_token, token);
  SIZED(lapilli_word_link, link);
  GUARDED(lapilli_attention_choice, choice);
  lapilli_attention* attention = NULL;
  const char* text = NULL;
  const uint8_t* png = NULL;
  size_t links = 0, bytes = 0;
  choice.value = lapilli_default_attention_choice();
  OK(lapilli_attention_run(model, result, 0, 0, 0, &attention));
  OK(lapilli_attention_get_map(attention, LAPILLI_ATTENTION_CROSS, &map.value));
  CHECK(map.value.columns == 6 && map.value.values);
  OK(lapilli_attention_get_token(attention, 0, 0, &token.value));
  CHECK(strcmp(token.value.label, "Where") == 0);
  OK(lapilli_attention_json(attention, &choice.value, &text));
  OK(lapilli_attention_svg(attention, &choice.value, &text));
  CHECK(strstr(text, "<svg"));
  OK(lapilli_attention_png(attention, &choice.value, &png, &bytes));
  OK(lapilli_attention_align(attention, LAPILLI_ATTENTION_MEAN, &links));
  CHECK(links > 0);
  OK(lapilli_attention_get_link(attention, 0, &link.value));
  lapilli_attention_free(attention);
  UNTOUCHED(map);
  UNTOUCHED(token);
  UNTOUCHED(link);
  UNTOUCHED(choice);
}

static void check_generation(lapilli_model* model) {
  static const int32_t ids[] = {463, 30, 16, 975, 23, 0}, never[] = {5, 6, 7};
  GUARDED(lapilli_options, options);
  GUARDED(lapilli_speech_options, speech);
  GUARDED(lapilli_picture_options, picture);
  struct streamed streamed = {"", 0};
  lapilli_phrase bad_words[2];
  lapilli_input inputs[2];
  lapilli_result* result = NULL;
  lapilli_cancel_token* token = NULL;
  OK(lapilli_cancel_token_create(&token));
  inputs[0] = lapilli_text("Where is the station?");
  inputs[1] = lapilli_tokens(ids, 6);
  bad_words[0] = bad_words[1] = lapilli_phrase_of(never, 3);
  options.value = lapilli_default_options();
  options.value.num_beams = options.value.num_return_sequences = 2;
  options.value.bad_words = bad_words;
  options.value.bad_word_count = 2;
  options.value.task = "translate";
  options.value.stream = on_stream;
  options.value.progress = on_progress;
  options.value.stream_user = options.value.progress_user = &streamed;
  options.value.cancel_token = token;
  speech.value = lapilli_default_speech_options();
  picture.value = lapilli_default_picture_options();
  options.value.speech = &speech.value;
  options.value.picture = &picture.value;
  OK(lapilli_generate(model, inputs, 2, &options.value, &result));
  CHECK(strcmp(streamed.text, "O\xC3\xB9 est la gare ?") == 0 && streamed.calls > 0);
  check_results(result);
  check_attention(model, result);
  lapilli_result_free(result);
  CHECK(!lapilli_cancel_token_cancelled(token));
  lapilli_cancel_token_cancel(token);
  CHECK(lapilli_generate(model, inputs, 2, &options.value, &result) == LAPILLI_CANCELLED);
  lapilli_result_free(result);
  lapilli_cancel_token_free(token);
  lapilli_cancel(model);
  UNTOUCHED(options);
  UNTOUCHED(speech);
  UNTOUCHED(picture);
}

/* Step by step, with events; and the memory that this takes. */
static void check_job(lapilli_device* device, lapilli_model* model) {
  GUARDED(lapilli_shape, shape);
  SIZED(lapilli_event, event);
  SIZED(lapilli_device_usage, usage);
  lapilli_input input = lapilli_text("Where is the station?");
  lapilli_job* job = NULL;
  lapilli_result* result = NULL;
  char text[256] = "";
  int32_t finished = 0, has = 1, ends = 0;
  size_t running = 0;
  shape.value = lapilli_default_shape();
  OK(lapilli_job_prepare(model, &shape.value, &job));
  OK(lapilli_job_wait(job, LAPILLI_UNLIMITED, &finished));
  lapilli_job_free(job);
  OK(lapilli_job_start(model, &input, 1, NULL, &job));
  while (!finished) OK(lapilli_job_pump(job, 1000, &finished));
  OK(lapilli_job_wait(job, LAPILLI_UNLIMITED, &finished));
  OK(lapilli_model_pump(model, 0, &running));
  CHECK(finished && running == 0);
  while (lapilli_job_next_event(job, &event.value, &has) == LAPILLI_OK && has) {
    if (event.value.kind == LAPILLI_EVENT_TEXT) strncat(text, event.value.of.text.text, sizeof text - strlen(text) - 1);
    ends += event.value.kind == LAPILLI_EVENT_END;
  }
  CHECK(strcmp(text, "O\xC3\xB9 est la gare ?") == 0 && ends == 1);
  OK(lapilli_job_take(job, &result));
  lapilli_result_free(result);
  lapilli_job_free(job);
  OK(lapilli_device_get_usage(device, &usage.value));
  CHECK(usage.value.weight_bytes > 0);
  UNTOUCHED(shape);
  UNTOUCHED(event);
  UNTOUCHED(usage);
}

int main(int argc, char** argv) {
  lapilli_device* device;
  lapilli_model* model;
  CHECK(argc == 2);
  lapilli_set_log(LAPILLI_LOG_NOTE, on_log, NULL);
  printf("made with %d.%d.%d, runs with %s\n", LAPILLI_VERSION_MAJOR, LAPILLI_VERSION_MINOR, LAPILLI_VERSION_PATCH,
         lapilli_version());
  device = open_device();
  model = load_model(device, argv[1]);
  check_job(device, model);
  lapilli_device_close(device);
  check_generation(model);
  lapilli_model_free(model);
  CHECK(strcmp(lapilli_status_name(LAPILLI_OK), "unknown") != 0);
  return 0;
}
