package httpapi

import (
	"net/http"
	"strconv"
	"strings"
)

// bulkOperation describes many calls of an operation in one request.
func bulkOperation(single *operation) *operation {
	line := onOneLine(single.request.example)
	return &operation{
		id: "bulk" + strings.ToUpper(single.id[:1]) + single.id[1:], tag: tagBulk,
		summary: single.summary + ", many at once",
		description: "Each line of the body is a body of `" + single.id + "`, and each line of the answer has its number, the status and " +
			"the very body that call would have had, in the order of the lines and while further ones still arrive. A line that " +
			"is refused never stops the others. Lines of one account take effect in order, those of different accounts side by " +
			"side. Blank lines count and are not answered. The query parameters hold for every line.\n\n" +
			"The last line is a summary; an answer without one was cut off. When the service has to stop early (it is " +
			"shutting down, the database is away, the key was revoked, a quota is used up) the summary says `\"complete\":false` and " +
			"`next_line`: send the lines from there on, or everything, again.\n\n" +
			"The body may be packed (`Content-Encoding: gzip` or `zstd`). A line may be as long as the body of a single call. " +
			"Where a single call would be told to come back (429, 503), its line waits instead.",
		query:   single.query,
		request: &content{schema: "BulkLines", example: line + "\n", media: typeLines[0]},
		responses: []response{{
			http.StatusOK, "An answer for each line, and the summary.",
			&content{schema: "BulkAnswers", example: bulkExample(single), media: typeLines[0]}, nil,
		}},
	}
}

// bulkExample is the answer to the example of a request.
func bulkExample(single *operation) string {
	for _, answer := range single.responses {
		if answer.status < http.StatusMultipleChoices {
			status := strconv.Itoa(answer.status)
			return `{"line":1,"status":` + status + `,"body":` + onOneLine(answer.content.example) + "}\n" +
				`{"summary":{"lines":1,"statuses":{"` + status + `":1},"complete":true}}` + "\n"
		}
	}
	// A call that can only be refused has no example to show, and no place in bulk.
	panic("httpapi: " + single.id + " never succeeds")
}

// onOneLine writes an example on one line.
func onOneLine(example any) string {
	raw, err := marshal(example)
	if err != nil {
		panic("httpapi: an example cannot be written: " + err.Error())
	}
	return string(raw)
}

// streamSchemas describes lines of JSON, which have no schema as a whole.
func streamSchemas() object {
	return object{
		{"BulkLines", object{
			{"type", "string"},
			{"description", "One JSON object on each line, ended by LF or CR LF."},
		}},
		{"BulkAnswers", object{
			{"type", "string"},
			{"description", "One JSON object on each line: `{\"line\":N,\"status\":S,\"body\":…}` for each line that was sent, and at last " +
				"`{\"summary\":{\"lines\":N,\"statuses\":{\"201\":N,…},\"complete\":true}}`. When `complete` is false there are also `next_line` and " +
				"`error`, which says why."},
		}},
	}
}
