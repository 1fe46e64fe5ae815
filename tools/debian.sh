# What the tools that fetch from Debian share; they source it.

DEBIAN_MIRROR=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
SECURITY_MIRROR=${SECURITY_MIRROR:-http://deb.debian.org/debian-security}

# The Debian suite that has a major version of PostgreSQL.
suite_of()
{
	case $1 in
		15) echo bookworm ;;
		17) echo trixie ;;
		18) echo forky ;;
		*) echo "no Debian suite has PostgreSQL $1" >&2; return 1 ;;
	esac
}

# Where builds and chroots are kept: see tools/build_postgres.
build_cache()
{
	if [ -n "${BUILD_CACHE:-}" ]; then
		realpath -m "$BUILD_CACHE"
	elif [ "$(id -u)" = 0 ]; then
		echo /var/cache/hotblocks
	else
		echo "${XDG_CACHE_HOME:-$HOME/.cache}/hotblocks"
	fi
}

# apt with package lists of its own in the folder $1: sources of suite $2,
# whatever the machine's lists are of, and without root.
private_apt()
{
	local folder=$1 suite=$2 keys=/usr/share/keyrings/debian-archive-keyring.gpg

	mkdir -p "$folder/lists/partial" "$folder/archives/partial"
	{
		echo "deb-src [signed-by=$keys] $DEBIAN_MIRROR $suite main"
		case $suite in
			bookworm | trixie) echo "deb-src [signed-by=$keys] $SECURITY_MIRROR $suite-security main" ;;
		esac
	} >"$folder/sources.list"
	private_apt_options=(-o "Dir::Etc::SourceList=$folder/sources.list" -o Dir::Etc::SourceParts=/dev/null
		-o "Dir::State::Lists=$folder/lists" -o "Dir::Cache=$folder" -o APT::Sandbox::User=
		-o Acquire::Check-Valid-Until=false)
	apt_private_get update -qq >&2
}

apt_private_get() { apt-get "${private_apt_options[@]}" "$@"; }

apt_private() { apt-cache "${private_apt_options[@]}" "$@"; }

# Installs those packages that are missing.  $1 is who asks.
install_missing()
{
	local who=$1 package need=()

	shift
	for package in "$@"; do
		case $(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null) in
			ii*) ;;
			*) need+=("$package") ;;
		esac
	done
	[ ${#need[@]} != 0 ] || return 0
	if [ "$(id -u)" != 0 ]; then
		echo "$who: missing packages, and not root to install them; run" >&2
		echo "    apt-get install --no-install-recommends ${need[*]}" >&2
		exit 1
	fi
	echo "$who: installing ${need[*]}" >&2
	apt-get update -qq >&2 || true
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
		-o Dpkg::Use-Pty=0 "${need[@]}" >&2 </dev/null
}

# Copies the tree into the folder $1: what git knows, and what it would take.
copy_tree()
{
	mkdir -p "$1"
	git ls-files -z -co --exclude-standard | xargs -0 ls -d 2>/dev/null | tar -c --files-from=- | tar -x -C "$1" --no-same-owner
}
