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

	"landfall/internal/lib/limits"
)

// bucket is a backend for S3-compatible stores.
type bucket struct {
	client *minio.Client
	name   string
	seenAt atomic.Int64 // when the bucket was last known to exist, in Unix seconds
}

// maxKeyLength is S3's limit on a key, in bytes.
const maxKeyLength = 1024

// openBucket parses s3://bucket?endpoint=…&region=…&credentials=….
func openBucket(target *url.URL) (backend, error) {
	if target.Host == "" || target.Path != "" && target.Path != "/" {
		return nil, errors.New("want s3:// and the name of a bucket; folders belong in the document roots of suppliers")
	}
	if err := s3utils.CheckValidBucketNameStrict(target.Host); err != nil {
		return nil, fmt.Errorf("document bucket: %w", err)
	}
	query, err := url.ParseQuery(target.RawQuery)
	if err != nil {
		return nil, errors.New("document bucket: the parameters after ? are invalid")
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
			return nil, errors.New("document bucket: the parameters are endpoint, region and credentials")
		}
	}
	server, err := url.Parse(endpoint)
	if err != nil || server.Host == "" || server.User != nil || server.Scheme != "https" && server.Scheme != "http" ||
		server.Path != "" && server.Path != "/" || server.RawQuery != "" {
		return nil, errors.New("document bucket: the endpoint must be a URL such as https://store.example.com:9000")
	}
	keys, err := credentialsFrom(source)
	if err != nil {
		return nil, err
	}
	// A given region saves a request. One retry covers a dropped connection; the caller
	// does the rest.
	client, err := minio.New(server.Host, &minio.Options{
		Creds: keys, Secure: server.Scheme == "https", Region: region, MaxRetries: 2,
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, DisableCompression: true,
			MaxIdleConnsPerHost: 32, MaxConnsPerHost: 64, IdleConnTimeout: limits.OutboundIdle,
			TLSHandshakeTimeout: limits.OutboundConnect, MaxResponseHeaderBytes: limits.OutboundHeader,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("document bucket: %w", err)
	}
	return &bucket{client: client, name: target.Host}, nil
}

// credentialsFrom returns the credentials. It fails without any, because anonymous requests
// would always get 403.
func credentialsFrom(source string) (*credentials.Credentials, error) {
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
	return nil, errors.New("document bucket: credentials must be environment or iam")
}

// check reads the metadata of a file. S3 replies 403 for a missing one when the
// credentials may not list the bucket; that is not errMissing.
func (b *bucket) check(ctx context.Context, root, path string) error {
	key := join(root, path)
	if len(key) > maxKeyLength {
		return errMissing
	}
	_, err := b.client.StatObject(ctx, b.name, key, minio.StatObjectOptions{})
	if err == nil {
		return nil
	}
	if minio.ToErrorResponse(err).StatusCode != http.StatusNotFound {
		return withoutFileName(err)
	}
	return b.checkBucket(ctx)
}

// checkBucket distinguishes a missing file from a missing bucket, since both give 404. A
// bucket that we may not read exists.
func (b *bucket) checkBucket(ctx context.Context) error {
	now := time.Now().Unix()
	if now-b.seenAt.Load() < int64(limits.BucketCheck/time.Second) {
		return errMissing
	}
	exists, err := b.client.BucketExists(ctx, b.name)
	switch {
	case err != nil && minio.ToErrorResponse(err).StatusCode != http.StatusForbidden:
		return withoutFileName(err)
	case err == nil && !exists:
		return errors.New("the bucket does not exist")
	}
	b.seenAt.Store(now)
	return errMissing
}

// withoutFileName returns an error without the file name. The library puts URLs into its errors,
// so only known kinds are passed on.
func withoutFileName(err error) error {
	var response minio.ErrorResponse
	var network *net.OpError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &response):
		return fmt.Errorf("the store replied with status %d", response.StatusCode)
	case errors.As(err, &network):
		return network
	case errors.As(err, &certificate):
		return certificate
	case errors.Is(err, context.DeadlineExceeded):
		return context.DeadlineExceeded
	}
	return errors.New("the store gave no usable reply")
}
