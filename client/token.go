package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// tokenSource holds the token of a client. It is obtained with the first call and renewed before it
// expires. Concurrent callers wait for the same one.
type tokenSource struct {
	client *Client
	key    string
	// refresh is used instead of the key. Each can be used once; keep is called with the next one.
	refresh string
	keep    func(refresh string)

	mutex sync.Mutex
	token string
	ends  time.Time
}

// expiryMargin is how long before its expiry a token is renewed, because a request may take a
// while.
const expiryMargin = 30 * time.Second

// errNoKey means that the client cannot obtain tokens.
var errNoKey = errors.New("no API key was given")

// current returns a valid token.
func (t *tokenSource) current(ctx context.Context) (string, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.token != "" && time.Now().Before(t.ends) {
		return t.token, nil
	}
	if t.key == "" && t.refresh == "" {
		return "", errNoKey
	}
	token, life, err := t.obtain(ctx)
	if err != nil {
		return "", err
	}
	t.token, t.ends = token, time.Now().Add(max(life-expiryMargin, life/2))
	return token, nil
}

// Token returns a valid token for calls made without this package.
func (c *Client) Token(ctx context.Context) (string, error) { return c.tokens.current(ctx) }

// invalidate drops a token that the server refused, unless it was already renewed.
func (t *tokenSource) invalidate(token string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.token == token {
		t.token = ""
	}
}

// obtain requests a token with the key or the refresh token.
func (t *tokenSource) obtain(ctx context.Context) (string, time.Duration, error) {
	credential := map[string]string{"apiKey": t.key}
	if t.key == "" {
		credential = map[string]string{"refreshToken": t.refresh}
	}
	body, err := json.Marshal(map[string]any{
		"query":     "mutation($with: ObtainServiceTokenInput!) { obtainServiceToken(input: $with) { token expiresIn refreshToken } }",
		"variables": map[string]any{"with": credential},
	})
	if err != nil {
		return "", 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.client.server+"/v1/graphql/", bytes.NewReader(body))
	if err != nil {
		return "", 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", t.client.agent)
	response, err := t.client.http.Do(request)
	if err != nil {
		return "", 0, err
	}
	if response.StatusCode >= http.StatusMultipleChoices && response.StatusCode < http.StatusBadRequest {
		return "", 0, readError(response)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return "", 0, err
	}
	var answer struct {
		Data struct {
			Obtained *struct {
				Token     string `json:"token"`
				ExpiresIn int    `json:"expiresIn"`
				Refresh   string `json:"refreshToken"`
			} `json:"obtainServiceToken"`
		} `json:"data"`
		Errors []struct {
			Message    string `json:"message"`
			Extensions struct {
				Code string `json:"code"`
			} `json:"extensions"`
		} `json:"errors"`
	}
	if err := json.Unmarshal(text, &answer); err != nil || answer.Data.Obtained == nil && len(answer.Errors) == 0 {
		// A proxy, or not a Landfall server.
		return "", 0, &Error{Status: response.StatusCode, Code: "not_landfall", RetryAfter: retryAfter(response),
			Detail: fmt.Sprintf("the server at %s did not respond like Landfall (status %d)", t.client.server, response.StatusCode)}
	}
	if answer.Data.Obtained == nil {
		failed := answer.Errors[0]
		status := response.StatusCode
		if status == http.StatusOK {
			status = http.StatusUnauthorized // GraphQL reports failures with 200
		}
		return "", 0, &Error{Status: status, Code: failed.Extensions.Code, Detail: failed.Message, RetryAfter: retryAfter(response)}
	}
	if t.key == "" {
		t.refresh = answer.Data.Obtained.Refresh
		t.keep(t.refresh)
	}
	return answer.Data.Obtained.Token, time.Duration(answer.Data.Obtained.ExpiresIn) * time.Second, nil
}
