package app

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"landfall/internal/lib/spelling"
	"landfall/internal/lib/yamltree"
)

// fromFile reads the lines of a config file, with their numbers. Without a path
// it returns nothing.
func fromFile(path string) ([]assignment, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path) //nolint:gosec // the operator names the file of his settings
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	root, err := yamltree.Read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	switch root.Kind {
	case yamltree.Null:
		return nil, nil // an empty file sets nothing
	case yamltree.Scalar, yamltree.List:
		return nil, fmt.Errorf("%s, line %d: want lines such as listen: 127.0.0.1:8080", path, root.Line)
	}
	var all []assignment
	for _, member := range root.Members {
		entry := assignment{name: member.Name, origin: fmt.Sprintf("%s, line %d", path, member.Line), file: true}
		// Keep the error with the line, so that all errors are reported together.
		entry.text, entry.err = textOf(member.Name, member.Node)
		all = append(all, entry)
	}
	return all, nil
}

// textOf returns the text of a setting's value. The items of a list are joined
// with commas, as on the command line.
func textOf(name string, content *yamltree.Node) (string, error) {
	switch content.Kind {
	case yamltree.List:
		parts := make([]string, len(content.Items))
		for i, part := range content.Items {
			if part.Kind != yamltree.Scalar {
				return "", errors.New("want plain values in the list")
			}
			parts[i] = part.Text
		}
		return strings.Join(parts, ","), nil
	case yamltree.Mapping:
		if len(content.Members) > 0 {
			if meant := spelling.Near(name+"-"+content.Members[0].Name, settingNames()); len(meant) > 0 {
				return "", fmt.Errorf("settings are not nested: did you mean %s?", meant[0])
			}
		}
		return "", errors.New("settings are not nested")
	}
	return content.Text, nil
}
