# hotblocks: make, make install, make demo, make check; see README.md.

EXTENSION = hotblocks
EXTVERSION := $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" hotblocks.control)
MODULE_big = hotblocks
PGFILEDESC = "hotblocks - columnar chunks of blockchain data"

LAYERS = codec chunk store stats chain scan fdw
OBJS = src/hotblocks.o $(patsubst %.c,%.o,$(sort $(foreach l,$(LAYERS),$(wildcard src/$(l)/*.c))))
DATA_built = sql/hotblocks--$(EXTVERSION).sql
INSTALL_PARTS = $(sort $(wildcard sql/install/*.sql))

PG_CPPFLAGS = -I$(srcdir)/src -DHB_VERSION='"$(EXTVERSION)"'
PG_CFLAGS = -Wall -Wextra -Werror -Wno-unused-parameter -Wno-sign-compare \
	-Wno-missing-field-initializers -Wno-cast-function-type
SHLIB_LINK = -lzstd -llz4 -lz

EXTRA_CLEAN = sql/hotblocks--$(EXTVERSION).sql build inst

PG_CONFIG ?= pg_config
# Bitcode would double the build; nothing of ours is inlined by the JIT.
override with_llvm = no
srcdir = .
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

sql/hotblocks--$(EXTVERSION).sql: $(INSTALL_PARTS)
	cat $(INSTALL_PARTS) > $@

# Every object depends on every header: there are few, and none may be missed.
$(OBJS): $(wildcard src/*.h src/*/*.h)
