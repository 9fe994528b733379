package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// memory returns a memory figure of the server in MiB, as Linux reports it.
func (s *service) memory(name string) (float64, error) { return memoryOf(s.command.Process.Pid, name) }

// runMeasured runs a command and returns how long it took and its peak memory in
// MiB. The kernel's figure for a process that has ended includes this one, which it
// was forked from.
func runMeasured(command *exec.Cmd) (took time.Duration, peak float64, err error) {
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	began := time.Now()
	if err := command.Start(); err != nil {
		return 0, 0, err
	}
	ended, watched := make(chan struct{}), make(chan float64)
	go func() {
		peak := 0.0
		defer func() { watched <- peak }()
		for {
			// Of a process that has just ended nothing can be read.
			if now, err := memoryOf(command.Process.Pid, "VmHWM"); err == nil {
				peak = now
			}
			select {
			case <-ended:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	err = command.Wait()
	took = time.Since(began)
	close(ended)
	if peak = <-watched; err != nil {
		err = fmt.Errorf("landfall %s: %w\n%s", command.Args[1], err, output.Bytes())
	}
	return took, peak, err
}

// memoryOf returns a memory figure of a process in MiB.
func memoryOf(process int, name string) (float64, error) {
	status, err := os.Open(fmt.Sprintf("/proc/%d/status", process))
	if err != nil {
		return 0, err
	}
	defer func() { _ = status.Close() }()
	lines := bufio.NewScanner(status)
	for lines.Scan() {
		if value, found := strings.CutPrefix(lines.Text(), name+":"); found {
			kilobytes, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
			return kilobytes / 1024, err
		}
	}
	return 0, fmt.Errorf("no %s in the process's status", name)
}
