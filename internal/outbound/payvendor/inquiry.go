package payvendor

import (
	"context"
	"io"
	"net/http"
	"net/url"
)

// inquiry reads one JSON value of a vendor that has no library.
type inquiry struct {
	client  *http.Client
	base    *url.URL
	headers map[string]string
}

// get fetches a path below the base; the path is escaped already.
func (i inquiry) get(ctx context.Context, path string) (any, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, i.base.String()+path, nil)
	if err != nil {
		return nil, broken("its address cannot be built")
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "landfall")
	for name, value := range i.headers {
		request.Header.Set(name, value)
	}
	response, err := i.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body) // the courier has limited it
	if err != nil {
		return nil, err
	}
	return parse(body)
}
