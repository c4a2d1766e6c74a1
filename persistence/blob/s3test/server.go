// Package s3test is an in-memory S3 server that can inject faults. It does not check signatures. The server that Gateway
// starts checks them.
package s3test

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Fault is an error that the server injects into a request.
type Fault int

// The faults. Before a fault whose name ends in After, and before a fault of the response body, the server carries the
// request out.
const (
	None               Fault = iota // no fault
	InternalError                   // 500
	ServiceUnavailable              // 503, without carrying the request out
	ResetBefore                     // closes the connection without a response
	ResetAfter                      // carries the request out and closes the connection without a response
	TruncateBody                    // half of the response body, after carrying the request out
	HangBefore                      // no response until the client gives up
	HangAfter                       // carries the request out, then sends no response until the client gives up
	StallBody                       // the response begins and stalls
	Denied                          // 403
	NotFound                        // 404 that is not an S3 error
	SlowBody                        // the body comes in small pieces
	ErrorInBody                     // 200 with an error in the body
)

// Request is a request that the server received.
type Request struct {
	Method, Key, Query, Range string
	Size                      int
}

// Server is an S3 server with one bucket.
type Server struct {
	URL string
	// ListPageSize is the maximum number of keys in a page of a list.
	ListPageSize int

	mu       sync.Mutex
	objects  map[string][]byte
	uploads  map[string]*upload
	count    int
	faultFor func(Request) Fault
	requests []Request
	closed   chan struct{}
}

type upload struct {
	key       string
	startedAt time.Time
	parts     map[int][]byte
}

// New starts a server that stops when the test ends.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{ListPageSize: 1000, objects: make(map[string][]byte), uploads: make(map[string]*upload), closed: make(chan struct{})}
	h := httptest.NewServer(s)
	s.URL = h.URL
	t.Cleanup(func() { close(s.closed); h.CloseClientConnections(); h.Close() })
	return s
}

// InjectFaults makes the server call f for each following request to get its fault. nil ends the injection.
func (s *Server) InjectFaults(f func(Request) Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faultFor = f
}

// TakeRequests returns the requests that the server received since the last call of TakeRequests.
func (s *Server) TakeRequests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.requests
	s.requests = nil
	return seen
}

// Keys returns the keys of all objects.
func (s *Server) Keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.objects))
}

// Object returns the bytes of an object. It returns nil if there is no such object.
func (s *Server) Object(key string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[key]
}

// SetObject stores an object under a key, as if a client had uploaded it.
func (s *Server) SetObject(key string, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[key] = body
}

// OpenUploads returns the number of multipart uploads that are neither completed nor aborted.
func (s *Server) OpenUploads() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.uploads)
}

// StartUploads starts a multipart upload of each key.
func (s *Server) StartUploads(keys ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		s.startUpload(key)
	}
}

func (s *Server) startUpload(key string) (id string) {
	s.count++
	id = "upload-" + strconv.Itoa(s.count)
	s.uploads[id] = &upload{key: key, startedAt: time.Now(), parts: make(map[int][]byte)}
	return id
}

// AgeUploads moves the start time of all multipart uploads back by a duration.
func (s *Server) AgeUploads(by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.uploads {
		u.startedAt = u.startedAt.Add(-by)
	}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	asked := Request{r.Method, key, r.URL.RawQuery, r.Header.Get("Range"), len(body)}
	s.mu.Lock()
	s.requests = append(s.requests, asked)
	f := s.faultFor
	s.mu.Unlock()
	fault := None
	if f != nil {
		fault = f(asked)
	}
	switch fault { //nolint:exhaustive // the other faults come after the request is carried out
	case InternalError:
		writeError(w, http.StatusInternalServerError, "InternalError")
		return
	case ServiceUnavailable:
		writeError(w, http.StatusServiceUnavailable, "SlowDown")
		return
	case Denied:
		writeError(w, http.StatusForbidden, "AccessDenied")
		return
	case NotFound:
		http.NotFound(w, r)
		return
	case ResetBefore:
		panic(http.ErrAbortHandler)
	case HangBefore:
		s.hang(r)
		return
	}
	sum := sha256.Sum256(body)
	unsigned := len(body) == 0 && r.Header.Get("X-Amz-Content-Sha256") == "UNSIGNED-PAYLOAD"
	if !unsigned && r.Header.Get("X-Amz-Content-Sha256") != hex.EncodeToString(sum[:]) || !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=") {
		writeError(w, http.StatusForbidden, "SignatureDoesNotMatch")
		return
	}
	a := httptest.NewRecorder()
	s.answer(a, r, key, body)
	s.send(w, r, a, fault)
}

func (s *Server) hang(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-s.closed:
	}
}

func (s *Server) send(w http.ResponseWriter, r *http.Request, a *httptest.ResponseRecorder, fault Fault) {
	switch fault { //nolint:exhaustive // the other faults are handled elsewhere
	case ResetAfter:
		panic(http.ErrAbortHandler)
	case HangAfter:
		s.hang(r)
		return
	case ErrorInBody:
		a.Body.Reset()
		a.Body.WriteString("<Error><Code>InternalError</Code><Message>late</Message></Error>")
	}
	maps.Copy(w.Header(), a.Header())
	out := a.Body.Bytes()
	w.Header().Set("Content-Length", strconv.Itoa(len(out)))
	w.WriteHeader(a.Code)
	flush := http.NewResponseController(w)
	switch fault { //nolint:exhaustive // the other faults are handled elsewhere
	case TruncateBody:
		_, _ = w.Write(out[:len(out)/2])
		_ = flush.Flush()
		panic(http.ErrAbortHandler)
	case StallBody:
		_, _ = w.Write(out[:len(out)/2])
		_ = flush.Flush()
		s.hang(r)
	case SlowBody:
		for part := range slices.Chunk(out, max(1, len(out)/50)) {
			_, _ = w.Write(part)
			_ = flush.Flush()
		}
	default:
		_, _ = w.Write(out)
	}
}

func writeError(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>as the test wants it</Message></Error>", code)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, key string, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := r.URL.Query()
	id := q.Get("uploadId")
	if id != "" && s.uploads[id] == nil {
		writeError(w, http.StatusNotFound, "NoSuchUpload")
		return
	}
	switch {
	case r.Method == http.MethodGet && key == "" && q.Has("uploads"):
		s.listUploads(w, q.Get("prefix"))
	case r.Method == http.MethodGet && key == "" && q.Has("versioning"):
		_, _ = io.WriteString(w, "<VersioningConfiguration></VersioningConfiguration>")
	case r.Method == http.MethodGet && key == "":
		s.list(w, q.Get("prefix"), cmp.Or(q.Get("continuation-token"), q.Get("start-after")))
	case r.Method == http.MethodGet:
		s.get(w, r, key)
	case r.Method == http.MethodPut && id != "":
		n, _ := strconv.Atoi(q.Get("partNumber"))
		s.uploads[id].parts[n] = body
		w.Header().Set("ETag", etag(body))
	case r.Method == http.MethodPut:
		s.objects[key] = body
		w.Header().Set("ETag", etag(body))
	case r.Method == http.MethodPost && q.Has("uploads"):
		_, _ = fmt.Fprintf(w, "<InitiateMultipartUploadResult><UploadId>%s</UploadId></InitiateMultipartUploadResult>", s.startUpload(key))
	case r.Method == http.MethodPost:
		s.complete(w, id, body)
	case r.Method == http.MethodDelete && id != "":
		delete(s.uploads, id)
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodDelete:
		delete(s.objects, key)
		w.WriteHeader(http.StatusNoContent)
	}
}

func etag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:16]) + `"`
}

func (s *Server) get(w http.ResponseWriter, r *http.Request, key string) {
	body, there := s.objects[key]
	if !there {
		writeError(w, http.StatusNotFound, "NoSuchKey")
		return
	}
	if match := r.Header.Get("If-Match"); match != "" && match != etag(body) {
		writeError(w, http.StatusPreconditionFailed, "PreconditionFailed")
		return
	}
	var from, to int
	if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to); err != nil {
		writeError(w, http.StatusBadRequest, "InvalidArgument")
		return
	}
	if from >= len(body) {
		writeError(w, http.StatusRequestedRangeNotSatisfiable, "InvalidRange")
		return
	}
	to = min(to, len(body)-1)
	w.Header().Set("ETag", etag(body))
	w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
	w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to, len(body)))
	w.WriteHeader(http.StatusPartialContent)
	_, _ = w.Write(body[from : to+1])
}

func (s *Server) list(w http.ResponseWriter, prefix, after string) {
	type content struct{ Key string }
	var out struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		IsTruncated           bool
		NextContinuationToken string
		Contents              []content
	}
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		if !strings.HasPrefix(key, prefix) || key <= after {
			continue
		}
		if len(out.Contents) == s.ListPageSize {
			out.IsTruncated, out.NextContinuationToken = true, out.Contents[s.ListPageSize-1].Key
			break
		}
		out.Contents = append(out.Contents, content{key})
	}
	_ = xml.NewEncoder(w).Encode(out)
}

func (s *Server) listUploads(w http.ResponseWriter, prefix string) {
	type one struct {
		Key       string
		UploadID  string `xml:"UploadId"`
		Initiated time.Time
	}
	var out struct {
		XMLName xml.Name `xml:"ListMultipartUploadsResult"`
		Upload  []one
	}
	for id, u := range s.uploads {
		if strings.HasPrefix(u.key, prefix) {
			out.Upload = append(out.Upload, one{u.key, id, u.startedAt})
		}
	}
	_ = xml.NewEncoder(w).Encode(out)
}

func (s *Server) complete(w http.ResponseWriter, id string, body []byte) {
	var named struct {
		Part []struct {
			PartNumber int
			ETag       string
		}
	}
	if xml.Unmarshal(body, &named) != nil {
		writeError(w, http.StatusBadRequest, "MalformedXML")
		return
	}
	u := s.uploads[id]
	var all []byte
	for _, p := range named.Part {
		part, there := u.parts[p.PartNumber]
		if !there || etag(part) != `"`+p.ETag+`"` {
			writeError(w, http.StatusBadRequest, "InvalidPart")
			return
		}
		all = append(all, part...)
	}
	s.objects[u.key] = all
	delete(s.uploads, id)
	_, _ = io.WriteString(w, "<CompleteMultipartUploadResult><Bucket>calls</Bucket></CompleteMultipartUploadResult>")
}
