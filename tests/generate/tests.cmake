# Tests named Device* need a device (those of faults lie to the driver about what happened, so validation would have much
# to say); the others are pure.
gtest_discover_tests(test_generate TEST_PREFIX generate. TEST_FILTER "-*Device*" PROPERTIES LABELS fast-host
  DISCOVERY_TIMEOUT 120)
# The engine, company of inputs, what is pumped and what devices are given have runs of their own.
set(separate *Faults*:*TranslationTask*:*Expected*:*DeviceSampling*:*Engine*:*Company*:*DeviceEvents*:*PumpCost*)
string(APPEND separate :*LargeVocabulary*:*UpToTheLast*)
lapilli_gpu_test(generate.device COMMAND test_generate --gtest_filter=*Device*-${separate}:*NonCoherent* VALIDATE
  LABELS long)
lapilli_gpu_test(generate.device COMMAND test_generate --gtest_filter=*Device*-${separate}:*NonCoherent* VALIDATE
  PROFILES "android-2022,memory=discrete" LABELS long TIMEOUT 3600)
# These repeat with a mask what other tests say with it; CI has them without a mask and with `floor`.
set(masked *Replay*/smallbindings:*Replay*/noindirect:*Replay*/staging:*Replay*/notimeline:*NonBlocking*/staging)
string(APPEND masked :*SessionsThatGrow*/gpu:*KvFormat*/staging:*SearchedAgain*/staging:*SearchedAgain*/small_bindings)
lapilli_gpu_test(generate.device COMMAND test_generate --gtest_filter=*Device*-${separate}:*SelfTest*:${masked} LABELS slow
  sanitize threads)
lapilli_gpu_test(generate.device.masks COMMAND test_generate --gtest_filter=${masked} LABELS long sanitize threads)
# Wherever counters begin; where they wrap in the middle of a search, with masks and validation too.
lapilli_gpu_test(generate.engine COMMAND test_generate --gtest_filter=*Engine*/from_ffffff9b LABELS slow sanitize threads)
lapilli_gpu_test(generate.engine.all COMMAND test_generate --gtest_filter=*Engine* LABELS long)
# With a mask a sixth, with validation a third: the same code with other kernels, and looked at.
lapilli_gpu_test(generate.engine COMMAND test_generate --gtest_filter=*Engine*/from_ffffff9b MASKS floor SHARD 1/6 LABELS slow)
lapilli_gpu_test(generate.engine.all COMMAND test_generate --gtest_filter=*Engine*/from_ffffff9b MASKS floor LABELS long)
lapilli_gpu_test(generate.engine COMMAND test_generate --gtest_filter=*Engine*/from_ffffff9b
  MASKS staging no-indirect LABELS long)
# Where the lineage of several beams at many positions fits no binding, a job with them is refused: the others.
set(large *RaggedGivenIdsWithBeams*:*SourcesTakeTurns*:*OutgrowsItsSession*:*FromTwoThreads*)
lapilli_gpu_test(generate.engine COMMAND test_generate --gtest_filter=*Engine*/from_ffffff9b-${large}
  MASKS small-bindings LABELS long)
lapilli_gpu_test(generate.engine COMMAND test_generate --gtest_filter=*Engine*/from_ffffff9b VALIDATE SHARD 2/3 LABELS slow)
lapilli_gpu_test(generate.engine.all COMMAND test_generate --gtest_filter=*Engine*/from_ffffff9b VALIDATE LABELS long)
# The cost of a pump for its thread: sanitizers and validation would be counted in.
lapilli_gpu_test(generate.pump_cost COMMAND test_generate --gtest_filter=*PumpCost* LABELS slow)
# Pumped tasks, with masks of their own.
lapilli_gpu_test(generate.pumped COMMAND test_generate --gtest_filter=*TranslationTask*/full LABELS fast sanitize threads)
lapilli_gpu_test(generate.pumped.all COMMAND test_generate --gtest_filter=*TranslationTask* LABELS long)
lapilli_gpu_test(generate.pumped COMMAND test_generate --gtest_filter=*TranslationTask*/full VALIDATE LABELS slow)
# The work of devices before the checker of hazards, with masks of its own. A fast part of it; all of it, and where memory is not
# mapped.
lapilli_gpu_test(generate.events COMMAND test_generate
  --gtest_filter=*DeviceEventsEdited*:*DeviceEvents*/plain:*DeviceEvents*/staging:*DeviceEvents*/floor:*DeviceEvents*/no_indirect
  LABELS fast sanitize)
lapilli_gpu_test(generate.events.all COMMAND test_generate --gtest_filter=*DeviceEvents* LABELS long)
lapilli_gpu_test(generate.events.all COMMAND test_generate --gtest_filter=*DeviceEvents*
  PROFILES "android-2022,memory=discrete" LABELS long)
# Not under ThreadSanitizer: it has room for 64 locks, and the CPU driver's compiler holds more after so many kernels.
lapilli_gpu_test(generate.self_test COMMAND test_generate --gtest_filter=*SelfTest* LABELS slow sanitize)
# Twenty thousand draws for each filter. On the other driver, where they take longer, without a filter and with one: the op suite runs
# the kernel of the filters there in full.
lapilli_gpu_test(generate.sampling COMMAND test_generate --gtest_filter=*DeviceSampling* LABELS slow)
lapilli_gpu_test(generate.sampling COMMAND test_generate
  --gtest_filter=*DeviceSampling*/nothing:*DeviceSampling*/top_p:DeviceSampling.* DRIVERS swiftshader
  LABELS long TIMEOUT 3600)
lapilli_gpu_test(generate.faults COMMAND test_generate --gtest_filter=*DeviceFaults*-*Everywhere* LABELS slow sanitize)
lapilli_gpu_test(generate.faults.everywhere COMMAND test_generate --gtest_filter=*DeviceFaultsEverywhere* LABELS long sanitize)
lapilli_gpu_test(generate.expected COMMAND test_generate --gtest_filter=*DeviceExpected*-*OneAlone LABELS fast)
# Many logits, and a prompt of 8,000 ids beside the same in one pass.
lapilli_gpu_test(generate.large COMMAND test_generate --gtest_filter=*LargeVocabulary*:*UpToTheLast* LABELS long TIMEOUT 3600)
# Inputs in random company: 40 orders of arrival, and 500, which say the same and take some minutes.
lapilli_gpu_test(generate.company COMMAND test_generate --gtest_filter=DeviceCompany.* LABELS slow sanitize threads)
lapilli_gpu_test(generate.company COMMAND test_generate --gtest_filter=DeviceCompany.* MASKS gpu LABELS long)
lapilli_gpu_test(generate.company.many COMMAND test_generate --gtest_filter=DeviceCompanyMany.*
  DRIVERS lavapipe swiftshader LABELS long TIMEOUT 3600)
lapilli_gpu_test(generate.company.many COMMAND test_generate --gtest_filter=DeviceCompanyMany.* MASKS floor small-bindings
  LABELS long TIMEOUT 3600)
lapilli_gpu_test(generate.company.many COMMAND test_generate --gtest_filter=DeviceCompanyMany.* VALIDATE
  LABELS long TIMEOUT 3600)
# The recorded sentences of the bundled model where a binding holds 64 KiB: the caches of four beams fit none there.
lapilli_gpu_test(generate.expected COMMAND test_generate --gtest_filter=DeviceExpected.GreedyInOneCall MASKS small-bindings
  LABELS slow)
lapilli_gpu_test(generate.expected.all COMMAND test_generate --gtest_filter=*DeviceExpected* MASKS small-bindings LABELS long)
# On six devices' memory types: what is not device-local, mapped or coherent there must be staged, flushed and invalidated.
lapilli_gpu_test(generate.memory COMMAND test_generate --gtest_filter=DeviceExpected.GreedyInOneCall:DeviceExpected.OneAtATime
  PROFILES memory-adreno memory-mali memory-intel LABELS slow)
lapilli_gpu_test(generate.memory.all COMMAND test_generate --gtest_filter=DeviceExpected.GreedyInOneCall:DeviceExpected.OneAtATime
  PROFILES memory-discrete-small-bar memory-amd-apu memory-discrete-large-bar LABELS long)
# A GPU's kernels take a CPU driver ten times as long: one sentence.
lapilli_gpu_test(generate.memory COMMAND test_generate --gtest_filter=DeviceExpected.OneAlone
  PROFILES memory-discrete-small-bar LABELS slow)
# The three kinds of Macs; the driver is one that must be asked for.
lapilli_gpu_test(generate.memory COMMAND test_generate --gtest_filter=DeviceExpected.OneAlone
  DRIVERS portability PROFILES moltenvk-m1 MASKS gpu LABELS slow)
lapilli_gpu_test(generate.memory.all COMMAND test_generate --gtest_filter=DeviceExpected.GreedyInOneCall:DeviceExpected.OneAtATime
  DRIVERS portability PROFILES moltenvk-m1 moltenvk-intel moltenvk-amd MASKS gpu LABELS long)
# Where all that the host can map wants flushes.
lapilli_gpu_test(generate.memory COMMAND test_generate --gtest_filter=DeviceExpected.OneAtATime
  PROFILES "heaps=2048L,types=0L:0LVK" "heaps=2048L,types=0LVK" LABELS fast)
