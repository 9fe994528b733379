package payvendor

import (
	"context"
	"io"
	"net/http"
	"net/url"
)

// inquiry reads JSON from the API of a vendor.
type inquiry struct {
	client  *http.Client
	base    *url.URL
	headers map[string]string
}

// get fetches and parses a JSON value. The path is relative to the base URL and already
// escaped.
func (i inquiry) get(ctx context.Context, path string) (any, error) {
	body, err := i.fetch(ctx, path)
	if err != nil {
		return nil, err
	}
	return parse(body)
}

// fetch returns the body of a reply, which the transport has checked and limited.
func (i inquiry) fetch(ctx context.Context, path string) ([]byte, error) {
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
	return io.ReadAll(response.Body)
}
