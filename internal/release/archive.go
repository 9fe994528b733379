package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

type archived struct {
	name, source string
	mode         fs.FileMode
}

// archive writes the program with everything that belongs to it: .zip for Windows, .tar.gz for
// the others.
func (r *release) archive(program, system, machine string) error {
	write, extension, suffix := writeTar, ".tar.gz", ""
	if system == "windows" {
		write, extension, suffix = writeZip, ".zip", ".exe"
	}
	folder := "landfall_" + r.version + "_" + system + "_" + machine
	entries := []archived{{path.Join(folder, "landfall"+suffix), program, 0o755}}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", filepath.Join(r.out, "LICENCES.txt")} {
		entries = append(entries, archived{path.Join(folder, filepath.Base(name)), name, 0o644})
	}
	for place, source := range map[string]string{"deploy": "deploy", "man": filepath.Join(r.work, "man"), "completions": filepath.Join(r.work, "completions")} {
		found, err := tree(source, path.Join(folder, place))
		if err != nil {
			return err
		}
		entries = append(entries, found...)
	}
	// Sorted, so that the archive is reproducible.
	slices.SortFunc(entries, func(a, b archived) int { return strings.Compare(a.name, b.name) })
	file, err := os.Create(filepath.Join(r.out, folder+extension))
	if err != nil {
		return err
	}
	r.files = append(r.files, folder+extension)
	return errors.Join(write(file, entries, r.time), file.Close())
}

// tree lists the files of a folder, without tests.
func tree(source, place string) (found []archived, err error) {
	err = filepath.WalkDir(source, func(name string, file fs.DirEntry, err error) error {
		if err != nil || file.IsDir() || strings.HasSuffix(name, "_test.go") {
			return err
		}
		inside, err := filepath.Rel(source, name)
		found = append(found, archived{path.Join(place, filepath.ToSlash(inside)), name, 0o644})
		return err
	})
	return found, err
}

func writeTar(out io.Writer, entries []archived, at time.Time) error {
	packed := gzip.NewWriter(out)
	archive := tar.NewWriter(packed)
	for _, one := range entries {
		info, err := os.Stat(one.source)
		if err != nil {
			return err
		}
		// No owner: the files belong to the user who unpacks them.
		if err := archive.WriteHeader(&tar.Header{Name: one.name, Mode: int64(one.mode), Size: info.Size(), ModTime: at, Format: tar.FormatPAX}); err != nil {
			return err
		}
		if err := copyInto(archive, one.source); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), packed.Close())
}

func writeZip(out io.Writer, entries []archived, at time.Time) error {
	archive := zip.NewWriter(out)
	for _, one := range entries {
		header := &zip.FileHeader{Name: one.name, Method: zip.Deflate, Modified: at}
		header.SetMode(one.mode)
		into, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if err := copyInto(into, one.source); err != nil {
			return err
		}
	}
	return archive.Close()
}

func copyInto(out io.Writer, source string) error {
	file, err := os.Open(source)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, file)
	return errors.Join(err, file.Close())
}
