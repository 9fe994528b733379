package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestDemoRemovesItsFiles ends demos with one signal and with many: make forwards a signal
// that its child already got, and the second one used to kill the demo before its folder was
// removed.
func TestDemoRemovesItsFiles(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, signals := range map[string]int{"once": 1, "again and again": 1_000_000} {
		for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			t.Run(name+" "+signal.String(), func(t *testing.T) {
				t.Parallel()
				world := t.TempDir()
				demo := &exec.Cmd{
					Path: program, Args: []string{"landfall", "demo", "--accounts", "300", "--listen", "127.0.0.1:0"},
					Env: append(os.Environ(), "TMPDIR="+world),
				}
				out, err := demo.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := demo.Start(); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { demo.Process.Kill() })
				if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, "temporary database") {
					t.Fatalf("%q, %v", line, err)
				}
				over := make(chan struct{})
				go func() {
					demo.Wait()
					close(over)
				}()
				for range signals {
					demo.Process.Signal(signal)
					select {
					case <-over:
					case <-time.After(time.Millisecond):
						continue
					}
					break
				}
				select {
				case <-over:
				case <-time.After(60 * time.Second):
					t.Fatal("it does not end")
				}
				left, err := os.ReadDir(world)
				if err != nil || len(left) > 0 {
					t.Errorf("it left %v, %v", left, err)
				}
			})
		}
	}
}
