package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
)

// profileOfBusyServers is the CPU profile that a release is compiled with. It
// shows where servers spend their time, so that the compiler knows what to
// inline.
const profileOfBusyServers = "cmd/landfall/landfall.pgo"

// profiler profiles every server of a run, a few seconds at a time: the last
// piece is lost with its server.
type profiler struct {
	folder string
}

const (
	secondsOfPiece = "3"
	pieceName      = "piece-" // and some letters
)

// watch profiles until the server at an address is gone.
func (p *profiler) watch(ctx context.Context, address string) {
	for {
		// The last profile fails when its server stops, which ends the loop.
		if p.piece(ctx, "http://"+address+"/debug/pprof/profile?seconds="+secondsOfPiece) != nil {
			return
		}
	}
}

func (p *profiler) piece(ctx context.Context, from string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	piece, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", from, answer.Status)
	}
	file, err := os.CreateTemp(p.folder, pieceName+"*.pb.gz")
	if err != nil {
		return err
	}
	if _, err := file.Write(piece); err != nil {
		return err
	}
	return file.Close()
}

// join merges all pieces into one profile.
func (p *profiler) join(ctx context.Context, into string) error {
	pieces, err := filepath.Glob(filepath.Join(p.folder, pieceName+"*.pb.gz"))
	if err != nil || len(pieces) == 0 {
		return fmt.Errorf("no server was busy for %s seconds: %w", secondsOfPiece, err)
	}
	out, err := os.Create(into)
	if err != nil {
		return err
	}
	// With the tool that the compiler's documentation recommends.
	command := exec.CommandContext(ctx, "go", append([]string{"tool", "pprof", "-proto"}, pieces...)...)
	command.Stdout = out
	if err := command.Run(); err != nil {
		return fmt.Errorf("joining %d pieces: %w", len(pieces), err)
	}
	return out.Close()
}
