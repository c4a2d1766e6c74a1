package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
)

// S3Config is the configuration of an S3 store: the bucket, its endpoint and the credentials.
type S3Config struct {
	Endpoint    string // http:// or https:// with a host and without a path
	Region      string
	Bucket      string
	PathStyle   bool // the bucket is in the path of the URL instead of its host
	Credentials credentials.Provider
	RootCAs     *x509.CertPool // nil: the root certificates of the machine
	Limits      S3Limits       // zero: the defaults
}

// S3Limits are the time limits of requests.
type S3Limits struct {
	StallTimeout   time.Duration // an attempt fails if no byte is transferred for so long
	RequestTimeout time.Duration // timeout of a small request with all its attempts
	MaxAttempts    int           // maximum of attempts of one request
	OpenPeriod     time.Duration // how long the circuit breaker refuses requests after a failure; doubles up to MaxOpenPeriod
	MaxOpenPeriod  time.Duration
}

func defaultLimits() S3Limits {
	return S3Limits{StallTimeout: 10 * time.Second, RequestTimeout: 15 * time.Second, MaxAttempts: 4, OpenPeriod: time.Second, MaxOpenPeriod: 15 * time.Second}
}

const (
	idleConns          = 16
	largeTimeoutFactor = 40 // a request with a part of a blob may take so many times RequestTimeout, as long as bytes are transferred
	listPageSize       = 1000
)

// s3Client sends requests for one bucket if its circuit breaker allows them. Its errors are storeError,
// unavailableError, or the error of the caller's context. No error contains a URL or a credential (sanitizeError).
type s3Client struct {
	core       *minio.Core
	http       *http.Transport
	bucket     string
	bucketName string
	limits     S3Limits
	breaker    circuitBreaker
}

func newS3Client(cfg S3Config) (*s3Client, error) {
	at, err := url.Parse(cfg.Endpoint)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" || strings.Trim(at.Path, "/") != "" || at.User != nil || cfg.Region == "" || s3utils.CheckValidBucketName(cfg.Bucket) != nil {
		return nil, errors.New("the endpoint must be an http:// or https:// URL of a host, and bucket and region must be named")
	}
	if cfg.Limits == (S3Limits{}) {
		cfg.Limits = defaultLimits()
	}
	connect := min(5*time.Second, cfg.Limits.StallTimeout)
	transport := &http.Transport{
		Proxy:           http.ProxyFromEnvironment,
		DialContext:     (&net.Dialer{Timeout: connect, KeepAlive: 15 * time.Second}).DialContext,
		TLSClientConfig: &tls.Config{RootCAs: cfg.RootCAs, MinVersion: tls.VersionTLS12}, TLSHandshakeTimeout: connect,
		MaxIdleConns: idleConns, MaxIdleConnsPerHost: idleConns, IdleConnTimeout: time.Minute, DisableCompression: true,
		ReadBufferSize: 32 << 10, WriteBufferSize: 32 << 10,
	}
	lookup := minio.BucketLookupDNS
	if cfg.PathStyle {
		lookup = minio.BucketLookupPath
	}
	core, err := minio.NewCore(at.Host, &minio.Options{
		Creds: credentials.New(cfg.Credentials), Secure: at.Scheme == "https", Region: cfg.Region, BucketLookup: lookup,
		Transport: &stallTimeoutTransport{transport, cfg.Limits.StallTimeout}, MaxRetries: cfg.Limits.MaxAttempts,
	})
	if err != nil {
		return nil, err
	}
	core.SetS3EnableDualstack(false) // otherwise minio-go uses another host than the configured one
	return &s3Client{
		core: core, http: transport, bucket: cfg.Bucket, bucketName: "the bucket " + cfg.Bucket + " at " + cfg.Endpoint, limits: cfg.Limits,
		breaker: circuitBreaker{minOpen: cfg.Limits.OpenPeriod, maxOpen: cfg.Limits.MaxOpenPeriod},
	}, nil
}

// checkAvailable returns an unavailableError while the circuit breaker refuses requests. probes is true if the result of
// this request decides whether later requests are allowed.
func (c *s3Client) checkAvailable(willAsk bool) (probes bool, err error) {
	probes, after, cause := c.breaker.acquire(time.Now(), willAsk)
	if cause != nil {
		return false, &unavailableError{after, cause}
	}
	return probes, nil
}

var errTooLong = errors.New("the store did not answer in time")

// call sends a request, including retries, if the circuit breaker allows it. It reports the outcome to the circuit
// breaker. limit bounds the whole duration.
func (c *s3Client) call(ctx context.Context, limit time.Duration, request func(context.Context) error) error {
	key, err := c.core.GetCreds()
	if err != nil {
		return err
	}
	probes, err := c.checkAvailable(true)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errTooLong)
	defer cancel()
	err = sanitizeError(request(ctx), key.SessionToken)
	if err == nil || isPermanent(err) {
		c.breaker.recordSuccess()
		return err
	}
	switch over := context.Cause(ctx); {
	case over == nil:
	case errors.Is(over, errTooLong):
		err = over
	default: // the caller gave up, which tells nothing about the store
		c.breaker.abandon(probes)
		if errors.Is(over, context.DeadlineExceeded) {
			return &unavailableError{c.limits.OpenPeriod, errors.Join(over, err)}
		}
		return errors.Join(over, err)
	}
	return &unavailableError{c.breaker.recordFailure(time.Now(), err), err}
}

func (c *s3Client) callShort(ctx context.Context, request func(context.Context) error) error {
	return c.call(ctx, c.limits.RequestTimeout, request)
}

func (c *s3Client) callLong(ctx context.Context, request func(context.Context) error) error {
	return c.call(ctx, largeTimeoutFactor*c.limits.RequestTimeout, request)
}

func sha256Hex(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// put stores an object in one request. The store verifies the SHA-256 of the body.
func (c *s3Client) put(ctx context.Context, key string, body []byte) error {
	return c.callLong(ctx, func(ctx context.Context) error {
		_, err := c.core.PutObject(ctx, c.bucket, key, bytes.NewReader(body), int64(len(body)), "", sha256Hex(body), minio.PutObjectOptions{DisableContentSha256: true}) // no checksum of each chunk, as sha256Hex covers the whole body
		return err
	})
}

var errRange = errors.New("the store returned another range than requested")

// get reads up to len(into) bytes of an object from an offset on. If etag is set and the object has another ETag,
// nothing is read.
func (c *s3Client) get(ctx context.Context, key string, from int64, into []byte, etag string) (p rangeResult, err error) {
	var opts minio.GetObjectOptions
	opts.Set("Range", fmt.Sprintf("bytes=%d-%d", from, from+int64(len(into))-1))
	if etag != "" {
		opts.Set("If-Match", etag)
	}
	err = c.callShort(ctx, func(ctx context.Context) error {
		body, info, header, failed := c.core.GetObject(ctx, c.bucket, key, opts)
		if failed != nil {
			return failed
		}
		p = rangeResult{size: info.Size, etag: header.Get("ETag")}
		var at, end int64
		if span := header.Get("Content-Range"); span != "" { // otherwise the response has the whole object
			_, failed = fmt.Sscanf(span, "bytes %d-%d/%d", &at, &end, &p.size)
		}
		if failed != nil || at != from || p.size < from {
			return errRange
		}
		p.length, failed = io.ReadFull(body, into[:min(int64(len(into)), p.size-from)])
		return failed
	})
	return p, err
}

// delete removes an object. A missing object is not an error.
func (c *s3Client) delete(ctx context.Context, key string) error {
	return ignoreNotFound(c.callShort(ctx, func(ctx context.Context) error {
		return c.core.RemoveObject(ctx, c.bucket, key, minio.RemoveObjectOptions{})
	}))
}

// ignoreNotFound returns nil for a missing object, and any other error as it is.
func ignoreNotFound(err error) error {
	if isNotFound(err) {
		return nil
	}
	return err
}

// list returns up to listPageSize object keys that begin with prefix and come after the key after.
func (c *s3Client) list(ctx context.Context, prefix, after string) (keys []string, err error) {
	err = c.callShort(ctx, func(ctx context.Context) error {
		keys = nil // of an earlier attempt
		for o := range c.core.ListObjectsIter(ctx, c.bucket, minio.ListObjectsOptions{Prefix: prefix, StartAfter: after, Recursive: true, MaxKeys: listPageSize}) {
			if o.Err != nil {
				return o.Err
			}
			if keys = append(keys, o.Key); len(keys) == listPageSize {
				return nil // more keys would cost another request
			}
		}
		return ctx.Err() // the iterator does not report that ctx ended
	})
	return keys, err
}

// abortUpload removes a multipart upload and its parts. A missing upload is not an error.
func (c *s3Client) abortUpload(ctx context.Context, key, id string) error {
	return ignoreNotFound(c.callShort(ctx, func(ctx context.Context) error { return c.core.AbortMultipartUpload(ctx, c.bucket, key, id) }))
}
