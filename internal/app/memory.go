package app

import (
	"context"
	"log/slog"
	"math"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"
)

const (
	// autoMemory asks for a limit that fits the container.
	autoMemory = -1
	// defaultMemory is what is enough for five thousand callers at once, where no
	// smaller container says less. The process takes about a hundred megabytes
	// more than the memory it manages itself.
	defaultMemory = 352 << 20
	// containerShare is how much of a container's memory the program's own may take, in
	// percent. The rest is for stacks, for the kernel's buffers of connections
	// and for the files that SQLite maps.
	containerShare = 80
	// gcPercent lets the heap grow to five times what is alive between
	// collections. Little is: at the default a busy server collects many times
	// a second.
	gcPercent = 400
	// profileRate is how many bytes are allocated between two that a profile of the
	// memory takes down. At eight times the usual distance such a profile is still
	// good, and taking them down costs a busy server nothing to speak of.
	profileRate = 4 << 20
)

// FitMemory trades memory for speed, but not more of it than there is: near the
// limit the program collects as often as it must, so that a burst of callers
// does not have it killed by its container. Whoever sets GOGC or GOMEMLIMIT has
// decided for himself.
func FitMemory(settings Settings, log *slog.Logger) {
	runtime.MemProfileRate = profileRate
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	limit := settings.MemoryLimit
	if limit == autoMemory {
		limit = defaultMemory
		if container := containerMemory("/proc/self/cgroup", "/sys/fs/cgroup"); container > 0 {
			limit = min(limit, container*containerShare/100)
		}
	}
	if limit > 0 {
		debug.SetMemoryLimit(limit)
		log.Debug("memory is limited", "bytes", limit)
	}
}

const (
	// memoryCheckInterval is how often one looks whether a burst is over.
	memoryCheckInterval = 5 * time.Second
	// quietBytes is how little is allocated in that time when nothing happens.
	quietBytes = 8 << 20
	// burstBytes is how much is allocated when much happens.
	burstBytes = 256 << 20
)

// releaseMemory returns to the system what a burst of callers took. Left alone
// the collector would wait for minutes, because nothing asks for memory any
// more that it could give.
func releaseMemory(ctx context.Context) {
	ticker := time.NewTicker(memoryCheckInterval)
	defer ticker.Stop()
	allocated := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	for before, given := uint64(0), uint64(0); ; {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		metrics.Read(allocated)
		now := allocated[0].Value.Uint64()
		if now-before < quietBytes && now-given > burstBytes {
			debug.FreeOSMemory()
			given = now
		}
		before = now
	}
}

// containerMemory is the least that any control group above this process
// allows it, or 0 when none does. Both versions of control groups are read;
// where the files cannot be, there is no limit to be known.
func containerMemory(membership, root string) int64 {
	groups, err := os.ReadFile(membership)
	if err != nil {
		return 0
	}
	least := int64(math.MaxInt64)
	for line := range strings.Lines(string(groups)) {
		// hierarchy:controllers:path, and for version 2 0::path
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		switch {
		case parts[0] == "0" && parts[1] == "":
			least = min(least, lowestLimit(root, parts[2], "memory.max"))
		case strings.Contains(","+parts[1]+",", ",memory,"):
			least = min(least, lowestLimit(root+"/memory", parts[2], "memory.limit_in_bytes"))
		}
	}
	// Version 1 says "no limit" with a number no machine has.
	if least >= 1<<50 {
		return 0
	}
	return least
}

// lowestLimit reads the limits of a group and of all groups it is in. Inside a
// container the group's own path often is not there but its root is.
func lowestLimit(root, group, file string) int64 {
	least := int64(math.MaxInt64)
	for group = path.Clean("/" + group); ; group = path.Dir(group) {
		if text, err := os.ReadFile(path.Join(root, group, file)); err == nil {
			if limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && limit > 0 {
				least = min(least, limit) // "max" is no number and no limit
			}
		}
		if group == "/" {
			return least
		}
	}
}
