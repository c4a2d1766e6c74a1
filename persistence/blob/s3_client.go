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

// S3Config names a bucket and the credentials for it.
type S3Config struct {
	Endpoint    string // http:// or https:// with a host and no path
	Region      string
	Bucket      string
	PathStyle   bool // the bucket stands in the path, not before the host
	Credentials credentials.Provider
	Roots       *x509.CertPool // nil: those of the machine
	Limits      S3Limits       // zero: the defaults
}

// S3Limits are the time limits of requests.
type S3Limits struct {
	Idle     time.Duration // a try in which no byte moves for so long has failed
	Small    time.Duration // of a small request with all its tries
	Tries    int           // of one request
	Pause    time.Duration // for which a store that is away is not asked; doubling up to MaxPause
	MaxPause time.Duration
}

func defaultLimits() S3Limits {
	return S3Limits{Idle: 10 * time.Second, Small: 15 * time.Second, Tries: 4, Pause: time.Second, MaxPause: 15 * time.Second}
}

const (
	idleConns  = 16
	largeTimes = 40 // a request with a part of a blob may take so much longer, as long as bytes move
	listPage   = 1000
)

// s3Client asks one bucket, through a circuit breaker. Its errors are sanitizeError:
// storeError and unavailableError, or the caller's context ended.
type s3Client struct {
	core    *minio.Core
	http    *http.Transport
	bucket  string
	place   string
	limits  S3Limits
	breaker circuitBreaker
}

func newS3Client(cfg S3Config) (*s3Client, error) {
	at, err := url.Parse(cfg.Endpoint)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" || strings.Trim(at.Path, "/") != "" || at.User != nil || cfg.Region == "" || s3utils.CheckValidBucketName(cfg.Bucket) != nil {
		return nil, errors.New("the endpoint must be an http:// or https:// URL of a host, and bucket and region must be named")
	}
	if cfg.Limits == (S3Limits{}) {
		cfg.Limits = defaultLimits()
	}
	connect := min(5*time.Second, cfg.Limits.Idle)
	transport := &http.Transport{
		Proxy:           http.ProxyFromEnvironment,
		DialContext:     (&net.Dialer{Timeout: connect, KeepAlive: 15 * time.Second}).DialContext,
		TLSClientConfig: &tls.Config{RootCAs: cfg.Roots, MinVersion: tls.VersionTLS12}, TLSHandshakeTimeout: connect,
		MaxIdleConns: idleConns, MaxIdleConnsPerHost: idleConns, IdleConnTimeout: time.Minute, DisableCompression: true,
		ReadBufferSize: 32 << 10, WriteBufferSize: 32 << 10,
	}
	lookup := minio.BucketLookupDNS
	if cfg.PathStyle {
		lookup = minio.BucketLookupPath
	}
	core, err := minio.NewCore(at.Host, &minio.Options{
		Creds: credentials.New(cfg.Credentials), Secure: at.Scheme == "https", Region: cfg.Region, BucketLookup: lookup,
		Transport: &stallTimeoutTransport{transport, cfg.Limits.Idle}, MaxRetries: cfg.Limits.Tries,
	})
	if err != nil {
		return nil, err
	}
	core.SetS3EnableDualstack(false) // else it asks another host than the one that is configured
	return &s3Client{
		core: core, http: transport, bucket: cfg.Bucket, place: "the bucket " + cfg.Bucket + " at " + cfg.Endpoint, limits: cfg.Limits,
		breaker: circuitBreaker{least: cfg.Limits.Pause, most: cfg.Limits.MaxPause},
	}, nil
}

// checkAvailable returns an unavailableError while the circuit breaker refuses requests.
// probes says that the caller's request decides whether the next ones are refused.
func (c *s3Client) checkAvailable(willAsk bool) (probes bool, err error) {
	probes, after, cause := c.breaker.enter(time.Now(), willAsk)
	if cause != nil {
		return false, &unavailableError{after, cause}
	}
	return probes, nil
}

var errTooLong = errors.New("the store took too long")

// call makes a request with all its tries, unless the store is away.
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
		c.breaker.succeeded()
		return err
	}
	switch over := context.Cause(ctx); {
	case over == nil:
	case errors.Is(over, errTooLong):
		err = over
	default: // the caller waits no longer, which says nothing of the store
		c.breaker.leave(probes)
		if errors.Is(over, context.DeadlineExceeded) {
			return &unavailableError{c.limits.Pause, errors.Join(over, err)}
		}
		return errors.Join(over, err)
	}
	return &unavailableError{c.breaker.failed(time.Now(), err), err}
}

func (c *s3Client) callShort(ctx context.Context, request func(context.Context) error) error {
	return c.call(ctx, c.limits.Small, request)
}

func (c *s3Client) callLong(ctx context.Context, request func(context.Context) error) error {
	return c.call(ctx, largeTimes*c.limits.Small, request)
}

func sha256Hex(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// put writes an object in one request. The store checks the SHA-256.
func (c *s3Client) put(ctx context.Context, key string, body []byte) error {
	return c.callLong(ctx, func(ctx context.Context) error {
		_, err := c.core.PutObject(ctx, c.bucket, key, bytes.NewReader(body), int64(len(body)), "", sha256Hex(body), minio.PutObjectOptions{DisableContentSha256: true}) // no checksum of each chunk: sha256Hex is that of the whole body
		return err
	})
}

var errRange = errors.New("the store does not answer with the range that it was asked for")

// get reads an object from an offset on, as much as there is room for. mark is an
// ETag: the object has it or nothing is read.
func (c *s3Client) get(ctx context.Context, key string, from int64, into []byte, mark string) (p piece, err error) {
	var opts minio.GetObjectOptions
	opts.Set("Range", fmt.Sprintf("bytes=%d-%d", from, from+int64(len(into))-1))
	if mark != "" {
		opts.Set("If-Match", mark)
	}
	err = c.callShort(ctx, func(ctx context.Context) error {
		body, info, header, failed := c.core.GetObject(ctx, c.bucket, key, opts)
		if failed != nil {
			return failed
		}
		p = piece{size: info.Size, mark: header.Get("ETag")}
		var at, end int64
		if span := header.Get("Content-Range"); span != "" { // else it is the whole object
			_, failed = fmt.Sscanf(span, "bytes %d-%d/%d", &at, &end, &p.size)
		}
		if failed != nil || at != from || p.size < from {
			return errRange
		}
		p.got, failed = io.ReadFull(body, into[:min(int64(len(into)), p.size-from)])
		return failed
	})
	return p, err
}

// delete removes an object; one that is not there is gone.
func (c *s3Client) delete(ctx context.Context, key string) error {
	return ignoreNotFound(c.callShort(ctx, func(ctx context.Context) error {
		return c.core.RemoveObject(ctx, c.bucket, key, minio.RemoveObjectOptions{})
	}))
}

// ignoreNotFound passes every error on but that the thing is missing.
func ignoreNotFound(err error) error {
	if isNotFound(err) {
		return nil
	}
	return err
}

// list returns at most listPage keys that begin with a prefix and follow after.
func (c *s3Client) list(ctx context.Context, prefix, after string) (keys []string, err error) {
	err = c.callShort(ctx, func(ctx context.Context) error {
		keys = nil // of a try before
		for o := range c.core.ListObjectsIter(ctx, c.bucket, minio.ListObjectsOptions{Prefix: prefix, StartAfter: after, Recursive: true, MaxKeys: listPage}) {
			if o.Err != nil {
				return o.Err
			}
			if keys = append(keys, o.Key); len(keys) == listPage {
				return nil // the next object would be asked for
			}
		}
		return ctx.Err() // where it ended, the iterator just stops
	})
	return keys, err
}

// abortUpload removes the parts of an upload.
func (c *s3Client) abortUpload(ctx context.Context, key, id string) error {
	return ignoreNotFound(c.callShort(ctx, func(ctx context.Context) error { return c.core.AbortMultipartUpload(ctx, c.bucket, key, id) }))
}
