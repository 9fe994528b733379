package filestore

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
)

// bucket is a shelf in an S3-compatible store.
type bucket struct {
	client *minio.Client
	name   string
	seen   atomic.Int64 // when the bucket itself was last known to exist, in Unix seconds
}

// keyLimit is S3's limit on the length of a name, in bytes.
const keyLimit = 1024

// seenFor is how long a bucket that was there is believed to be there still.
const seenFor = time.Minute

// openBucket reads s3://bucket?endpoint=…&region=…&credentials=….
func openBucket(target *url.URL) (shelf, error) {
	if target.Host == "" || target.Path != "" && target.Path != "/" {
		return nil, errors.New("a document bucket's address is s3:// and the bucket's name; folders belong in the suppliers' document roots")
	}
	if err := s3utils.CheckValidBucketNameStrict(target.Host); err != nil {
		return nil, fmt.Errorf("document bucket: %w", err)
	}
	query, err := url.ParseQuery(target.RawQuery)
	if err != nil {
		return nil, errors.New("document bucket: the settings after ? cannot be read")
	}
	endpoint, region, source := "https://s3.amazonaws.com", "us-east-1", "environment"
	for name, values := range query {
		switch name {
		case "endpoint":
			endpoint = values[0]
		case "region":
			region = values[0]
		case "credentials":
			source = values[0]
		default:
			return nil, errors.New("document bucket: the settings are endpoint, region and credentials")
		}
	}
	server, err := url.Parse(endpoint)
	if err != nil || server.Host == "" || server.User != nil || server.Scheme != "https" && server.Scheme != "http" ||
		server.Path != "" && server.Path != "/" || server.RawQuery != "" {
		return nil, errors.New("document bucket: the endpoint is an address like https://store.example.com:9000")
	}
	keys, err := keysFrom(source)
	if err != nil {
		return nil, err
	}
	// Naming the region saves a question; one repetition bridges a dropped
	// connection, and the caller's own repetition does the rest.
	client, err := minio.New(server.Host, &minio.Options{
		Creds: keys, Secure: server.Scheme == "https", Region: region, MaxRetries: 2,
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, DisableCompression: true,
			MaxIdleConnsPerHost: 32, MaxConnsPerHost: 64, IdleConnTimeout: time.Minute,
			TLSHandshakeTimeout: 3 * time.Second, MaxResponseHeaderBytes: 64 << 10,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("document bucket: %w", err)
	}
	return &bucket{client: client, name: target.Host}, nil
}

// keysFrom finds the credentials. Without any the store would be asked
// anonymously and answer 403 for ever, so that is refused at once.
func keysFrom(source string) (*credentials.Credentials, error) {
	switch source {
	case "iam":
		return credentials.NewIAM(""), nil
	case "environment":
		keys := credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, &credentials.EnvMinio{}})
		found, err := keys.GetWithContext(&credentials.CredContext{})
		if err != nil || found.AccessKeyID == "" || found.SecretAccessKey == "" {
			return nil, errors.New("document bucket: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set")
		}
		return keys, nil
	}
	return nil, errors.New("document bucket: credentials is environment or iam")
}

// look asks for a file's properties. S3 answers 403 for a missing one when
// the credentials may not list the bucket: that is "cannot look".
func (b *bucket) look(ctx context.Context, root, path string) error {
	key := join(root, path)
	if len(key) > keyLimit {
		return errMissing
	}
	_, err := b.client.StatObject(ctx, b.name, key, minio.StatObjectOptions{})
	if err == nil {
		return nil
	}
	if minio.ToErrorResponse(err).StatusCode != http.StatusNotFound {
		return reason(err)
	}
	return b.confirm(ctx)
}

// confirm tells a missing file from a missing bucket, which a bare 404
// does not. A bucket we may not look at exists.
func (b *bucket) confirm(ctx context.Context) error {
	now := time.Now().Unix()
	if now-b.seen.Load() < int64(seenFor/time.Second) {
		return errMissing
	}
	exists, err := b.client.BucketExists(ctx, b.name)
	switch {
	case err != nil && minio.ToErrorResponse(err).StatusCode != http.StatusForbidden:
		return reason(err)
	case err == nil && !exists:
		return errors.New("the bucket does not exist")
	}
	b.seen.Store(now)
	return errMissing
}

// reason keeps of an error what an operator needs and no file name: the
// library writes addresses into errors of its own, so only the kinds that are
// known to hold none are passed on.
func reason(err error) error {
	var response minio.ErrorResponse
	var network *net.OpError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &response):
		return fmt.Errorf("the store answered with status %d", response.StatusCode)
	case errors.As(err, &network):
		return network
	case errors.As(err, &certificate):
		return certificate
	case errors.Is(err, context.DeadlineExceeded):
		return context.DeadlineExceeded
	}
	return errors.New("the store gave no usable answer")
}
