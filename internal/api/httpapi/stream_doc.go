package httpapi

import (
	"net/http"
	"strconv"
	"strings"
)

// bulkOperation describes the bulk form of an operation.
func bulkOperation(single *operationDoc) *operationDoc {
	line := onOneLine(single.request.example)
	return &operationDoc{
		id: "bulk" + strings.ToUpper(single.id[:1]) + single.id[1:], tag: tagBulk,
		summary: single.summary + " (bulk)",
		description: "Each line of the request is a body of `" + single.id + "`. Each line of the response has the line number, the status and " +
			"the body that the single call would return. Results are sent in line order while further lines are still arriving. A " +
			"refused line does not stop the others. Lines of the same account are processed in order, lines of different accounts " +
			"concurrently. Blank lines are counted but have no result. The query parameters apply to every line.\n\n" +
			"The last line is a summary; a response without a summary was cut off. If the service has to stop early (it is " +
			"shutting down, the database is unavailable, the API key was revoked, a quota is used up), the summary has `\"complete\":false` and " +
			"`next_line`. Send the lines from there on, or all lines, again.\n\n" +
			"The body may be compressed (`Content-Encoding: gzip` or `zstd`). A line may be as long as the body of a single call. " +
			"Where a single call would return 429 or 503, the line waits instead.",
		query:   single.query,
		request: &mediaContent{schema: "BulkLines", example: line + "\n", media: typeLines[0]},
		responses: []responseDoc{{
			http.StatusOK, "A result for each line, and the summary.",
			&mediaContent{schema: "BulkAnswers", example: bulkExample(single), media: typeLines[0]}, nil,
		}},
	}
}

// bulkExample is the response to the example request.
func bulkExample(single *operationDoc) string {
	for _, answer := range single.responses {
		if answer.status < http.StatusMultipleChoices {
			status := strconv.Itoa(answer.status)
			return `{"line":1,"status":` + status + `,"body":` + onOneLine(answer.content.example) + "}\n" +
				`{"summary":{"lines":1,"statuses":{"` + status + `":1},"complete":true}}` + "\n"
		}
	}
	// A call that never succeeds has no example and no bulk form.
	panic("httpapi: " + single.id + " never succeeds")
}

func onOneLine(example any) string {
	raw, err := marshal(example)
	if err != nil {
		panic("httpapi: an example cannot be written: " + err.Error())
	}
	return string(raw)
}

// streamSchemas describes newline-delimited JSON, which has no schema as a
// whole.
func streamSchemas() object {
	return object{
		{"BulkLines", object{
			{"type", "string"},
			{"description", "One JSON object per line, terminated by LF or CR LF."},
		}},
		{"WholeAccountLines", object{
			{"type", "string"},
			{"description", "One `WholeAccount` per line."},
		}},
		{"BulkAnswers", object{
			{"type", "string"},
			{"description", "One JSON object per line: `{\"line\":N,\"status\":S,\"body\":…}` for each line of the request, and finally " +
				"`{\"summary\":{\"lines\":N,\"statuses\":{\"201\":N,…},\"complete\":true}}`. If `complete` is false, there are also `next_line` and " +
				"`error`, which says why."},
		}},
	}
}
