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
	// autoMemory selects a limit that fits the container.
	autoMemory = -1
	// defaultMemory is the limit unless the container allows less. It is enough
	// for five thousand concurrent callers. The process uses about a hundred
	// megabytes more than the memory that Go manages.
	defaultMemory = 352 << 20
	// containerShare is the percentage of a container's memory for the Go heap.
	// The rest is for stacks, for the kernel's connection buffers and for the
	// files that SQLite maps.
	containerShare = 80
	// gcPercent lets the heap grow to four times the live data between
	// collections. There is little live data: at the default a busy server would
	// collect many times a second. At 400 a large bulk request takes 40 MiB more, and
	// only validation may be faster.
	gcPercent = 300
	// profileRate is how many bytes are allocated between two samples of a memory
	// profile. With eight times the default, profiles are still good and sampling
	// costs a busy server almost nothing.
	profileRate = 4 << 20
)

// FitMemory trades memory for speed within the memory limit. Near the limit the
// program collects garbage as often as necessary, so that the container does not
// kill it in a burst of requests. GOGC and GOMEMLIMIT take precedence.
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
	// memoryCheckInterval is how often releaseMemory checks whether a burst is
	// over.
	memoryCheckInterval = 5 * time.Second
	// quietBytes is the most that a server allocates in that time when it does
	// little except background work. The check of stored documents alone allocates
	// up to 5 MiB a second.
	quietBytes = 40 << 20
	// burstBytes is how much must have been allocated since the last release.
	burstBytes = 256 << 20
)

// releaseMemory returns memory to the system after a burst of requests. The
// garbage collector alone would take minutes, because a quiet server allocates
// too little to trigger it.
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

// containerMemory returns the lowest memory limit of the control groups of this
// process, or 0 if there is none. It reads both versions of control groups.
// Without these files the limit is unknown.
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
	// Version 1 writes "no limit" as a number larger than any machine has.
	if least >= 1<<50 {
		return 0
	}
	return least
}

// lowestLimit reads the limits of a group and of all its parents. Inside a
// container the group's own path often does not exist, but the root does.
func lowestLimit(root, group, file string) int64 {
	least := int64(math.MaxInt64)
	for group = path.Clean("/" + group); ; group = path.Dir(group) {
		if text, err := os.ReadFile(path.Join(root, group, file)); err == nil {
			if limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && limit > 0 {
				least = min(least, limit) // "max" is not a number and means no limit
			}
		}
		if group == "/" {
			return least
		}
	}
}
