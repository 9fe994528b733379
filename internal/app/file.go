package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"

	"landfall/internal/spelling"
)

// fromFile takes the lines of a config file, with their numbers. No name, no
// file.
func fromFile(path string) ([]given, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	decoder := yaml.NewDecoder(file)
	var document yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil, nil // an empty file decides nothing
	} else if err != nil {
		return nil, fmt.Errorf("%s: %s", path, complaint(err))
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s holds more than one document", path)
	}
	root := document.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s, line %d: want lines such as listen: 127.0.0.1:8080", path, root.Line)
	}
	var all []given
	seen := map[string]int{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		name, content := root.Content[i], root.Content[i+1]
		entry := given{name: name.Value, origin: fmt.Sprintf("%s, line %d", path, name.Line), file: true}
		entry.text, entry.wrong = plain(name.Value, content)
		if first := seen[name.Value]; first > 0 {
			entry.wrong = fmt.Errorf("it stands in line %d already", first)
		}
		seen[name.Value] = name.Line
		all = append(all, entry)
	}
	return all, nil
}

// plain gives the text of a setting's value. Several in a list are written
// with commas, as on the command line.
func plain(name string, content *yaml.Node) (string, error) {
	switch content.Kind {
	case yaml.ScalarNode:
		if content.Tag == "!!null" {
			return "", nil
		}
		return content.Value, nil
	case yaml.SequenceNode:
		parts := make([]string, len(content.Content))
		for i, part := range content.Content {
			if part.Kind != yaml.ScalarNode {
				return "", errors.New("want plain values in the list")
			}
			parts[i] = part.Value
		}
		return strings.Join(parts, ","), nil
	case yaml.MappingNode:
		if len(content.Content) > 0 {
			if meant := spelling.Near(name+"-"+content.Content[0].Value, settingNames()); len(meant) > 0 {
				return "", fmt.Errorf("settings are not nested: did you mean %s?", meant[0])
			}
		}
		return "", errors.New("settings are not nested")
	}
	return "", errors.New("want a plain value")
}

// complaint is what the library says about a file it cannot read, which is a
// line and a rule of YAML, never a value.
func complaint(err error) string { return strings.TrimPrefix(err.Error(), "yaml: ") }
