package audit

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"landfall"
)

// CheckpointWriter writes checkpoints outside the database: to an append-only file,
// or to the log.
type CheckpointWriter struct {
	key  ed25519.PrivateKey // nil: unsigned
	file string             // "": the log
	log  *slog.Logger
}

// NewCheckpointWriter returns a writer. It fails now if the file cannot be appended
// to, not when the first checkpoint is due.
func NewCheckpointWriter(key ed25519.PrivateKey, file string, log *slog.Logger) (*CheckpointWriter, error) {
	if file != "" {
		opened, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
		if err := opened.Close(); err != nil {
			return nil, err
		}
	}
	return &CheckpointWriter{key, file, log}, nil
}

// write stores a checkpoint durably. It opens the file each time, so that the file
// can be rotated.
func (w *CheckpointWriter) write(chain landfall.AuditChain, at time.Time) error {
	made := newCheckpoint(chain, at, w.key)
	if w.file == "" {
		w.log.Info(checkpointMessage, "chain", made.Chain, "place", made.Position, "hash", made.Hash, "at", made.At, "key", made.Key, "signature", made.Signature)
		return nil
	}
	line, err := json.Marshal(made)
	if err != nil {
		return err
	}
	opened, err := os.OpenFile(w.file, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if endsMidLine(opened) {
		line = append([]byte{'\n'}, line...)
	}
	_, err = opened.Write(line)
	return errors.Join(err, opened.Sync(), opened.Close())
}

// endsMidLine reports whether the last line of a file is incomplete because its
// writer was killed. The next checkpoint must start on a new line.
func endsMidLine(file *os.File) bool {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	var end [1]byte
	_, err = file.ReadAt(end[:], info.Size()-1)
	return err == nil && end[0] != '\n'
}

// last reads the newest checkpoint of the file, or nil.
func (w *CheckpointWriter) last() (*Checkpoint, error) {
	if w.file == "" {
		return nil, nil
	}
	opened, err := os.Open(w.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer func() { _ = opened.Close() }() // it was only read
	found, err := ReadCheckpoints(opened)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[len(found)-1], nil
}
