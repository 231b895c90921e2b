# Columns and shared models of samples/python, which need no library; with NumPy and pandas where Python has them.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(Python3_FOUND)
  add_test(NAME clients.columns COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/clients/columns_test.py
    ${PROJECT_SOURCE_DIR}/samples/python)
  set_tests_properties(clients.columns PROPERTIES LABELS fast)
endif()

# samples/spark and samples/ray on local clusters; skipped without their packages from PyPI (and Java, for Spark). LAPILLI_CLIENTS
# names a Python that has them: pyspark, pandas, pyarrow, ray[data].
if(TARGET lapilli_shared AND TARGET lapilli_cli)
  set(engines $ENV{LAPILLI_CLIENTS})
  if(NOT engines)
    set(engines python3)
  endif()
  foreach(engine spark ray)
    lapilli_gpu_test(clients.${engine} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/clients/engine-test ${engine} ${engines}
      $<TARGET_FILE:lapilli_shared> $<TARGET_FILE:lapilli_cli> 96 LABELS clients)
    set_tests_properties(clients.${engine}.lavapipe PROPERTIES SKIP_RETURN_CODE 77)
  endforeach()
endif()
