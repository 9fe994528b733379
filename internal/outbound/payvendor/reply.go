package payvendor

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth limits the nesting of a reply.
const maxDepth = 32

// parse parses one JSON value strictly: valid UTF-8, no trailing data, no duplicate keys,
// limited nesting. Numbers keep their spelling.
func parse(body []byte) (any, error) {
	if !utf8.Valid(body) || !json.Valid(body) {
		return nil, badReply("it is not JSON")
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	return parseValue(decoder, 0)
}

func parseValue(decoder *json.Decoder, depth int) (any, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, badReply("it is not JSON")
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return token, nil
	}
	if depth == maxDepth {
		return nil, badReply("it is nested too deeply")
	}
	if delim == '[' {
		return parseList(decoder, depth)
	}
	return parseObject(decoder, depth)
}

func parseList(decoder *json.Decoder, depth int) (any, error) {
	list := []any{}
	for decoder.More() {
		value, err := parseValue(decoder, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	_, err := decoder.Token()
	return list, err
}

// parseObject refuses duplicate keys, which parsers interpret differently.
func parseObject(decoder *json.Decoder, depth int) (any, error) {
	object := map[string]any{}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, badReply("it is not JSON")
		}
		name, _ := token.(string)
		if _, twice := object[name]; twice {
			return nil, badReply("it has a duplicate key")
		}
		if object[name], err = parseValue(decoder, depth+1); err != nil {
			return nil, err
		}
	}
	_, err := decoder.Token()
	return object, err
}

// pointer is a parsed JSON pointer. The empty one finds nothing, since no vendor replies
// with a bare value.
type pointer []string

// newPointer parses a pointer such as /card/last4.
func newPointer(text string) (pointer, bool) {
	if !strings.HasPrefix(text, "/") {
		return nil, false
	}
	steps := strings.Split(text[1:], "/")
	for i, step := range steps {
		steps[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
	}
	return steps, true
}

// find returns the value at the pointer as text; "" for nothing, null, lists and objects.
func (p pointer) find(value any) string {
	if len(p) == 0 {
		return ""
	}
	for _, step := range p {
		switch inside := value.(type) {
		case map[string]any:
			value = inside[step]
		case []any:
			index, err := strconv.Atoi(step)
			if err != nil || index < 0 || index >= len(inside) {
				return ""
			}
			value = inside[index]
		default:
			return ""
		}
	}
	switch value := value.(type) {
	case string:
		return value
	case json.Number:
		return value.String()
	case bool:
		if value {
			return "true"
		}
		return "false"
	}
	return ""
}
