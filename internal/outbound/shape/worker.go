// Package shape runs the jq programs that turn accounts into the form that a target
// wants. A program is the operator's, but it may run for ever or use all memory, and
// a jq program cannot be stopped inside one call of its library. So it runs in a
// child process that can be ended, and that ends itself when it exceeds its limits.
package shape

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"github.com/itchyny/gojq"

	"landfall/internal/lib/limits"
)

// WorkerArgument is the argument with which the program is started as a worker.
const WorkerArgument = "run-shape"

// The exit codes of a worker that exceeded a limit.
const (
	exitTooSlow  = 3
	exitTooLarge = 4
)

// The kinds of answers.
const (
	answerValue = 'v'
	answerError = 'e'
)

// Work is the main function of a worker. It reads a program and then documents, and
// answers each, until the input ends.
func Work(input io.Reader, output io.Writer) {
	debug.SetMaxStack(limits.ShapeStack)
	limitMemory(limits.ShapeMemory)
	var busySince atomic.Int64
	go watch(&busySince)
	reader, writer := bufio.NewReader(input), bufio.NewWriter(output)
	var code *gojq.Code
	for {
		frame, err := readFrame(reader)
		if err != nil {
			return // the parent has ended or wants no more
		}
		busySince.Store(time.Now().UnixNano())
		var answer []byte
		if code == nil {
			if code, err = compile(string(frame)); err != nil {
				writeFrame(writer, append([]byte{answerError}, err.Error()...))
				return
			}
		} else if answer, err = apply(code, frame); err != nil {
			answer = nil
		}
		busySince.Store(0)
		if err != nil {
			answer = append([]byte{answerError}, err.Error()...)
		} else {
			answer = append([]byte{answerValue}, answer...)
		}
		if !writeFrame(writer, answer) {
			return
		}
	}
}

// watch ends the process when a document takes too long or too much memory is used.
// A goroutine is stopped for it even in the middle of a loop.
func watch(busySince *atomic.Int64) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	for {
		time.Sleep(limits.ShapePoll)
		if since := busySince.Load(); since != 0 && time.Since(time.Unix(0, since)) > limits.ShapeTime {
			os.Exit(exitTooSlow)
		}
		metrics.Read(sample)
		if sample[0].Value.Uint64() > limits.ShapeMemory {
			os.Exit(exitTooLarge)
		}
	}
}

// compile compiles a program. It gets no environment, no input functions and no
// modules.
func compile(text string) (*gojq.Code, error) {
	query, err := gojq.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("the jq program cannot be read: %w", err)
	}
	code, err := gojq.Compile(query)
	if err != nil {
		return nil, fmt.Errorf("the jq program cannot be used: %w", err)
	}
	return code, nil
}

// apply runs a program on one document. It must give exactly one value.
func apply(code *gojq.Code, document []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	var input any
	if err := decoder.Decode(&input); err != nil {
		return nil, err
	}
	values := code.Run(input)
	value, some := values.Next()
	if !some {
		return nil, errors.New("the jq program gave no value")
	}
	if err, failed := value.(error); failed {
		return nil, fmt.Errorf("the jq program failed: %w", err)
	}
	if next, more := values.Next(); more {
		if err, failed := next.(error); failed {
			return nil, fmt.Errorf("the jq program failed: %w", err)
		}
		return nil, errors.New("the jq program gave several values")
	}
	encoded, err := gojq.Marshal(value)
	if err != nil {
		return nil, err
	}
	if len(encoded) > limits.ShapeOutput {
		return nil, fmt.Errorf("the jq program gave more than %d MiB", limits.ShapeOutput>>20)
	}
	return encoded, nil
}

// errFrame means that the other side does not speak this protocol.
var errFrame = errors.New("a frame is too long")

// readFrame reads a length and that many bytes.
func readFrame(reader *bufio.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(reader, length[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(length[:])
	if size > limits.ShapeFrame {
		return nil, errFrame
	}
	frame := make([]byte, size)
	_, err := io.ReadFull(reader, frame)
	return frame, err
}

// writeFrame writes what readFrame reads, and reports whether it could.
func writeFrame(writer *bufio.Writer, frame []byte) bool {
	var length [4]byte
	if len(frame) > limits.ShapeFrame {
		return false
	}
	binary.BigEndian.PutUint32(length[:], uint32(len(frame))) //nolint:gosec // it is checked above
	_, first := writer.Write(length[:])
	_, second := writer.Write(frame)
	return errors.Join(first, second, writer.Flush()) == nil
}
