package payvendor

import (
	"context"
	"io"
	"net/http"
	"net/url"
)

// apiClient reads JSON from the API of a vendor.
type apiClient struct {
	client  *http.Client
	base    *url.URL
	headers map[string]string
}

// get fetches and parses a JSON value. The path is relative to the base URL and already
// escaped.
func (c apiClient) get(ctx context.Context, path string) (any, error) {
	body, err := c.fetch(ctx, path)
	if err != nil {
		return nil, err
	}
	return parse(body)
}

// fetch returns the body of a reply, which the transport has checked and limited.
func (c apiClient) fetch(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base.String()+path, nil)
	if err != nil {
		return nil, badReply("its URL cannot be built")
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "landfall")
	for name, value := range c.headers {
		request.Header.Set(name, value)
	}
	response, err := c.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}
