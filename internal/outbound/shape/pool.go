package shape

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"landfall/internal/lib/limits"
)

// ProgramError is a failure of a jq program, not of ours: it will not go away by
// trying again.
type ProgramError struct{ Detail string }

// Error says what is wrong with the program.
func (e *ProgramError) Error() string { return e.Detail }

// Pool runs jq programs in a few child processes. Each has one program; the least
// recently used one ends when another program needs its place.
type Pool struct {
	command func() (*exec.Cmd, error)
	slots   chan struct{} // taken by children that are working

	mu     sync.Mutex
	idle   []*child // the most recently used one last
	closed bool
}

// maxWorking is how many children work at the same time, and how many wait for work.
const maxWorking = 4

// NewPool returns a pool that starts its children with a command.
func NewPool(command func() (*exec.Cmd, error)) *Pool {
	return &Pool{command: command, slots: make(chan struct{}, maxWorking)}
}

// Self starts this program as a worker, without an environment.
func Self() (*exec.Cmd, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.Command(path, WorkerArgument) //nolint:gosec,noctx // this program itself; the pool ends it
	command.Env = []string{"GOMAXPROCS=1", "GOTRACEBACK=none"}
	return command, nil
}

// Check returns a ProgramError when a program cannot be used.
func (p *Pool) Check(ctx context.Context, program string) error {
	_, err := p.do(ctx, program, nil)
	return err
}

// Apply runs a program on a JSON document and returns the JSON that it gives.
func (p *Pool) Apply(ctx context.Context, program string, document []byte) ([]byte, error) {
	return p.do(ctx, program, document)
}

func (p *Pool) do(ctx context.Context, program string, document []byte) ([]byte, error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-p.slots }()
	worker := p.take(program)
	if worker == nil {
		var err error
		if worker, err = p.start(ctx, program); err != nil {
			return nil, err
		}
	}
	if document != nil {
		answer, err := worker.ask(ctx, document)
		if _, program := errors.AsType[*ProgramError](err); err != nil && (!program || worker.broken) {
			worker.end()
			return nil, err
		}
		p.put(worker)
		return answer, err
	}
	p.put(worker)
	return nil, nil
}

// take returns a child that has a program and nothing to do.
func (p *Pool) take(program string) *child {
	p.mu.Lock()
	defer p.mu.Unlock()
	for at, found := range slices.Backward(p.idle) {
		if found.program == program {
			p.idle = slices.Delete(p.idle, at, at+1)
			return found
		}
	}
	return nil
}

// put keeps a child for later. Which one ends for it ends outside the lock.
func (p *Pool) put(worker *child) {
	var ended *child
	p.mu.Lock()
	switch {
	case p.closed:
		ended = worker
	default:
		if p.idle = append(p.idle, worker); len(p.idle) > maxWorking {
			ended = p.idle[0]
			p.idle = slices.Delete(p.idle, 0, 1)
		}
	}
	p.mu.Unlock()
	if ended != nil {
		ended.end()
	}
}

// Close ends the children that have nothing to do, and the others when they are done.
func (p *Pool) Close() {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	for _, worker := range idle {
		worker.end()
	}
}

type child struct {
	program string
	process *exec.Cmd
	input   io.WriteCloser
	writer  *bufio.Writer
	reader  *bufio.Reader
	broken  bool // it gives no more answers
}

// start starts a child and gives it its program.
func (p *Pool) start(ctx context.Context, program string) (*child, error) {
	command, err := p.command()
	if err != nil {
		return nil, err
	}
	input, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("cannot start a process for the jq program: %w", err)
	}
	worker := &child{program: program, process: command, input: input, writer: bufio.NewWriter(input), reader: bufio.NewReader(output)}
	if _, err := worker.ask(ctx, []byte(program)); err != nil {
		worker.end()
		return nil, err
	}
	return worker, nil
}

// ask sends a frame and waits for its answer. A child that does not answer in time is
// killed.
func (c *child) ask(ctx context.Context, frame []byte) ([]byte, error) {
	if len(frame) > limits.ShapeFrame {
		return nil, &ProgramError{fmt.Sprintf("the document has more than %d MiB, too many for a jq program", limits.ShapeFrame>>20)}
	}
	ctx, cancel := context.WithTimeout(ctx, limits.ShapeTime+limits.ShapeStart)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = c.process.Process.Kill() })
	defer stop()
	var answer []byte
	err := errFrame
	if writeFrame(c.writer, frame) {
		answer, err = readFrame(c.reader)
	}
	switch {
	case err == nil && len(answer) > 0 && answer[0] == answerValue:
		return answer[1:], nil
	case err == nil && len(answer) > 0:
		return nil, &ProgramError{string(answer[1:])}
	}
	c.broken = true
	_ = c.process.Wait() // its exit code says why
	switch code := c.process.ProcessState.ExitCode(); {
	case code == exitTooLarge || code == 2: // the runtime exits with 2 when the system gives it no memory
		return nil, &ProgramError{"the jq program used too much memory"}
	case code == exitTooSlow, errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, &ProgramError{fmt.Sprintf("the jq program took longer than %s", limits.ShapeTime)}
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, fmt.Errorf("the process of the jq program ended: %s", c.process.ProcessState)
}

// end ends a child that has nothing to do.
func (c *child) end() {
	_ = c.input.Close()
	if c.broken {
		return
	}
	timer := time.AfterFunc(limits.ShapeStart, func() { _ = c.process.Process.Kill() })
	defer timer.Stop()
	_ = c.process.Wait()
}
