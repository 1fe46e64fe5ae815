# The plain C tests: test/unit/test_*.c with cmocka under gcc's sanitizers, and
# test/fuzz/fuzz_*.c with libFuzzer, each linked with all of the codec and
# chunk layers and what else is plain C.  Run by test/run, which says what came of
# them.
#
#   make -f test/unit.mk            build all
#   make -f test/unit.mk unit       build the unit tests: build/unit/test_*
#   make -f test/unit.mk fuzz       build the fuzzers: build/fuzz/fuzz_*

FUZZ_CC = clang
WARN = -Wall -Wextra -Werror -Wdeclaration-after-statement -Wno-unused-parameter \
	-Wno-sign-compare -Wno-missing-field-initializers
FLAGS = -std=gnu99 -g -O1 -fno-omit-frame-pointer -Isrc $(WARN)
UNIT_FLAGS = $(FLAGS) -fsanitize=address,undefined -fno-sanitize-recover=undefined
FUZZ_FLAGS = $(FLAGS) -DHB_FUZZ -fsanitize=address,undefined -fno-sanitize-recover=undefined
LIBS = -lzstd -llz4 -lz -lm

CORE = $(sort $(wildcard src/codec/*.c src/chunk/*.c)) src/chain/hb_json.c src/store/hb_keccak.c
HEADERS = $(wildcard src/codec/*.h src/chunk/*.h test/unit/*.h test/fuzz/*.h) src/chain/hb_json.h src/store/hb_keccak.h
UNIT = $(patsubst test/unit/%.c,build/unit/%,$(sort $(wildcard test/unit/test_*.c)))
FUZZ = $(patsubst test/fuzz/%.c,build/fuzz/%,$(sort $(wildcard test/fuzz/fuzz_*.c)))
# What the tests share: every other file of their folder.
UNIT_SHARED = $(filter-out test/unit/test_%.c,$(wildcard test/unit/*.c))
FUZZ_SHARED = $(filter-out test/fuzz/fuzz_%.c,$(wildcard test/fuzz/*.c))

all: unit fuzz
unit: $(UNIT)
fuzz: $(FUZZ)

build/unit/obj/%.o: %.c $(HEADERS) test/unit.mk
	@mkdir -p $(@D)
	$(CC) $(UNIT_FLAGS) -c -o $@ $<

build/fuzz/obj/%.o: %.c $(HEADERS) test/unit.mk
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -c -o $@ $<

$(UNIT): build/unit/%: build/unit/obj/test/unit/%.o $(patsubst %.c,build/unit/obj/%.o,$(UNIT_SHARED) $(CORE))
	$(CC) $(UNIT_FLAGS) -o $@ $^ -lcmocka $(LIBS)

$(FUZZ): build/fuzz/%: build/fuzz/obj/test/fuzz/%.o $(patsubst %.c,build/fuzz/obj/%.o,$(FUZZ_SHARED) $(CORE))
	$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS)

.PHONY: all unit fuzz
.SECONDARY:
