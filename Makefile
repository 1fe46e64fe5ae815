# hotblocks
#
#   make                 build, with the PostgreSQL that PG_CONFIG names
#   make install         install (DESTDIR is honoured)
#   make demo            load real blocks into a throwaway cluster and query them
#   make check           every test, on a throwaway cluster
#   make unit            only the plain C unit tests and a short run of the fuzzers
#   make installcheck    pg_regress, isolation and TAP on a running server
#   make check-assert    the tests on a PostgreSQL built with assertions
#   make check-valgrind  pg_regress under valgrind (about an hour)
#   make check-all       make check on PostgreSQL 15, 17 and 18 (root, Debian 12)
#   make format          clang-format over src and test
#   make dist            a zip of the committed tree
#
# demo, check and unit install what they need with apt where it is missing, so
# they work on a machine that has nothing but git and make.
#
#   make demo DEMO_DATA='FILE ...'     NDJSON files of one chain, in order
#   make check TEST_DATA=FOLDER        adds the tests on real data
#   make check SUITES='unit regress'   only these suites; see test/run

EXTENSION = hotblocks
EXTVERSION := $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" hotblocks.control)
PG_CONFIG ?= pg_config

# What the tests need on the machine must not be needed to read this file.
HOUSE_GOALS = check check-all check-assert check-valgrind demo dist format unit
ifneq ($(filter $(HOUSE_GOALS),$(MAKECMDGOALS)),)

export PG_CONFIG TEST_DATA DEMO_DATA SUITES BUILD_CACHE

check:
	@test/run

check-all:
	@tools/check_versions

check-assert:
	@tools/check_assert

check-valgrind:
	@tools/check_assert valgrind

unit:
	@SUITES='unit fuzz' test/run

demo:
	@tools/demo

format:
	clang-format -i $$(git ls-files 'src/*.[ch]' 'test/*.[ch]')

dist:
	git archive --format zip --prefix=$(EXTENSION)-$(EXTVERSION)/ \
		-o $(EXTENSION)-$(EXTVERSION).zip HEAD

# Goals of the other half in the same command, as in "make clean check".
OTHER_GOALS = $(filter-out $(HOUSE_GOALS),$(MAKECMDGOALS))
ifneq ($(OTHER_GOALS),)
$(OTHER_GOALS):
	$(MAKE) $@
endif

.PHONY: $(MAKECMDGOALS)
.NOTPARALLEL:

else

MODULE_big = hotblocks
PGFILEDESC = "hotblocks - columnar chunks of blockchain data"

LAYERS = codec chunk store stats chain scan exec fdw
OBJS = src/hotblocks.o $(patsubst %.c,%.o,$(sort $(foreach l,$(LAYERS),$(wildcard src/$(l)/*.c))))
DATA_built = sql/hotblocks--$(EXTVERSION).sql
DATA = $(wildcard sql/hotblocks--*--*.sql)
INSTALL_PARTS = $(sort $(wildcard sql/install/*.sql))

PG_CPPFLAGS = -I$(srcdir)/src -DHB_VERSION='"$(EXTVERSION)"'
PG_CFLAGS = -Wall -Wextra -Werror -Wno-unused-parameter -Wno-sign-compare \
	-Wno-missing-field-initializers -Wno-cast-function-type
SHLIB_LINK = -lzstd -llz4 -lz

REGRESS = $(patsubst expected/%.out,%,$(wildcard expected/*.out))
REGRESS_OPTS = --load-extension=$(EXTENSION)
ISOLATION = $(patsubst test/isolation/specs/%.spec,%,$(wildcard test/isolation/specs/*.spec))
ISOLATION_OPTS = --inputdir=test/isolation --load-extension=$(EXTENSION)
TAP_TESTS = $(if $(wildcard test/t/*.pl),1)
PROVE_TESTS = test/t/*.pl
PROVE_FLAGS += -I test/perl

EXTRA_CLEAN = sql/hotblocks--$(EXTVERSION).sql build inst

# Bitcode would double the build; nothing of ours is inlined by the JIT.
override with_llvm = no
srcdir = .
PGXS := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)
ifeq ($(wildcard $(PGXS)),)
$(error "$(PG_CONFIG)" finds no server headers: run tools/install_packages build, \
or set PG_CONFIG to the pg_config of an installed PostgreSQL)
endif
include $(PGXS)

sql/hotblocks--$(EXTVERSION).sql: $(INSTALL_PARTS)
	cat $(INSTALL_PARTS) > $@

# Every object depends on every header (there are few, and none may be missed),
# on this file, and on which PostgreSQL it was built for.
BUILT_FOR = build/built_for
$(shell mkdir -p build; echo '$(PG_CONFIG) $(VERSION) $(COPT)' >$(BUILT_FOR).new; \
	cmp -s $(BUILT_FOR).new $(BUILT_FOR) || cp $(BUILT_FOR).new $(BUILT_FOR))
$(OBJS): $(wildcard src/*.h src/*/*.h) Makefile $(BUILT_FOR)

endif
