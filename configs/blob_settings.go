package configs

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Blobs configures the storage of recordings and exports: a bucket, or a folder that several nodes share. The zero
// value means the folder blobs in the data folder.
type Blobs struct {
	Folder         string // absolute path; empty: a bucket
	Bucket         string
	Prefix         string // without slashes at either end
	Endpoint       string // http:// or https:// with a host
	CustomEndpoint bool   // whether blobs_url names the endpoint; false: Endpoint is AWS's
	Region         string
	PathStyle      bool
}

// blobsRule and blobsKeyRule describe valid values of settings. Error messages contain them after "must be".
const (
	blobsRule    = "a URL such as s3://bucket/prefix?endpoint=https://host:9000&region=eu-central-1&path_style=true, without user and password, or file:///mnt/shared/recordings with the absolute path of a folder"
	blobsKeyRule = "an existing file with the lines aws_access_key_id = … and aws_secret_access_key = …, as AWS's command line writes them, of one profile"
)

var (
	bucketName   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$`)
	bucketPrefix = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9_.-]*(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*$`)
	regionName   = regexp.MustCompile(`^[A-Za-z0-9-]{1,63}$`)
)

// parseBlobs parses s3://bucket/prefix?endpoint=…&region=…&path_style=… or file:///folder.
func parseBlobs(s string) (b Blobs, ok bool) {
	u, err := url.Parse(s)
	if err == nil && u.Scheme == "file" {
		b.Folder = filepath.Clean(u.Path)
		return b, *u == url.URL{Scheme: "file", Path: u.Path, RawPath: u.RawPath} && filepath.IsAbs(u.Path) && b.Folder != "/"
	}
	if err != nil || u.Scheme != "s3" || u.User != nil || u.Fragment != "" || u.Port() != "" || !bucketName.MatchString(u.Host) {
		return b, false
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return b, false
	}
	b = Blobs{Bucket: u.Host, Prefix: strings.Trim(u.Path, "/"), Region: "us-east-1"}
	if b.Prefix != "" && !bucketPrefix.MatchString(b.Prefix) {
		return b, false
	}
	for name, values := range q {
		if len(values) != 1 || !slices.Contains([]string{"endpoint", "region", "path_style"}, name) {
			return b, false
		}
	}
	if q.Has("region") {
		if b.Region = q.Get("region"); !regionName.MatchString(b.Region) {
			return b, false
		}
	}
	b.Endpoint = "https://s3." + b.Region + ".amazonaws.com"
	if q.Has("endpoint") {
		b.CustomEndpoint = true
		if b.Endpoint, ok = parseEndpoint(q.Get("endpoint")); !ok {
			return b, false
		}
	}
	b.PathStyle = b.CustomEndpoint || strings.Contains(b.Bucket, ".") // AWS's wildcard certificate does not cover a bucket name with a dot
	if q.Has("path_style") {
		if b.PathStyle, ok = parseBool(q.Get("path_style")); !ok {
			return b, false
		}
	}
	return b, true
}

// parseEndpoint parses an http:// or https:// URL that consists of a host and an optional port.
func parseEndpoint(s string) (string, bool) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return "", false
	}
	if port := u.Port(); port != "" {
		if _, ok := parsePort(port); !ok {
			return "", false
		}
	}
	return u.Scheme + "://" + u.Host, true
}

// showBlobs returns the text with which an error message shows a value. A valid value stays as it is. In an invalid value
// it hides the parts that may contain a key.
func showBlobs(s string) string {
	if _, ok := parseBlobs(s); ok {
		return s
	}
	return showURL(s)
}

// BlobKeys holds the credentials for the bucket.
type BlobKeys struct {
	AccessKeyID     string
	SecretAccessKey Secret
	SessionToken    Secret // of temporary credentials; empty for permanent credentials
}

var errNoBlobKeys = errors.New("blobs_url: the bucket needs credentials: set blobs_key_file, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment")

// ReadBlobKeys reads the bucket credentials from file. If file is empty, ReadBlobKeys takes them from the AWS_
// variables of env.
func ReadBlobKeys(file string, env []string) (BlobKeys, error) {
	if file != "" {
		text, err := readBounded(file)
		if err != nil {
			return BlobKeys{}, fmt.Errorf("blobs_key_file: %w", err)
		}
		k, ok := parseBlobKeyFile(string(text))
		if !ok {
			return BlobKeys{}, errors.New("blobs_key_file must be " + blobsKeyRule)
		}
		return k, nil
	}
	var k BlobKeys
	for _, line := range env {
		switch name, value, _ := strings.Cut(line, "="); name {
		case "AWS_ACCESS_KEY_ID":
			k.AccessKeyID = value
		case "AWS_SECRET_ACCESS_KEY":
			k.SecretAccessKey.value = value
		case "AWS_SESSION_TOKEN":
			k.SessionToken.value = value
		}
	}
	if k.AccessKeyID == "" || k.SecretAccessKey.value == "" {
		return k, errNoBlobKeys
	}
	return k, nil
}

// parseBlobKeyFile parses a credentials file in AWS's format with one profile.
func parseBlobKeyFile(text string) (k BlobKeys, ok bool) {
	sections := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name, value, pair := strings.Cut(line, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			sections++
		case !pair:
			return k, false
		case name == "aws_access_key_id":
			k.AccessKeyID = value
		case name == "aws_secret_access_key":
			k.SecretAccessKey.value = value
		case name == "aws_session_token":
			k.SessionToken.value = value
		}
	}
	return k, sections < 2 && k.AccessKeyID != "" && k.SecretAccessKey.value != ""
}

func checkBlobKeyFile(s string) (string, bool) {
	if _, ok := parseFile(s); !ok {
		return "", false
	}
	_, err := ReadBlobKeys(s, nil)
	return s, err == nil
}
