// Package s3test is a store in memory that speaks as much S3 as is asked of it,
// and misbehaves on purpose. It checks no signatures: real stores do, and the
// tests ask one of those, too.
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

// Fault is how a request is mistreated.
type Fault int

// The faults. After means that the request was carried out before.
const (
	None     Fault = iota
	Broken         // 500
	Busy           // 503, after nothing
	Reset          // the connection ends without an answer
	ResetEnd       // the same, after
	Cut            // half of the body, after
	Hang           // no answer until the request is given up
	HangEnd        // the same, after
	Stall          // the answer begins, and stands still
	Denied         // 403
	NotFound       // 404 that is not the store's
	Slow           // the body comes in small pieces
	LateFail       // 200, and an error in the body
)

// Request is what the server was asked.
type Request struct {
	Method, Key, Query, Range string
	Size                      int
}

// Server is one bucket.
type Server struct {
	URL string
	// Page is how many keys a page of a list has at most.
	Page int

	mu      sync.Mutex
	objects map[string][]byte
	uploads map[string]*upload
	count   int
	fault   func(Request) Fault
	seen    []Request
	over    chan struct{}
}

type upload struct {
	key   string
	begun time.Time
	parts map[int][]byte
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{Page: 1000, objects: make(map[string][]byte), uploads: make(map[string]*upload), over: make(chan struct{})}
	h := httptest.NewServer(s)
	s.URL = h.URL
	t.Cleanup(func() { close(s.over); h.CloseClientConnections(); h.Close() })
	return s
}

// Fail says how requests are mistreated from now on; nil: none is.
func (s *Server) Fail(f func(Request) Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// Seen are the requests so far, which are forgotten.
func (s *Server) Seen() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.seen
	s.seen = nil
	return seen
}

// Keys are those of the objects.
func (s *Server) Keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.objects))
}

// Object is what lies under a key, and nil where nothing does.
func (s *Server) Object(key string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[key]
}

// Set puts an object there.
func (s *Server) Set(key string, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[key] = body
}

// Open is how many uploads were begun and have not ended.
func (s *Server) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.uploads)
}

// Begin begins an upload of each key.
func (s *Server) Begin(keys ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		s.begin(key)
	}
}

func (s *Server) begin(key string) (id string) {
	s.count++
	id = "upload-" + strconv.Itoa(s.count)
	s.uploads[id] = &upload{key: key, begun: time.Now(), parts: make(map[int][]byte)}
	return id
}

// Age makes all uploads older.
func (s *Server) Age(by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.uploads {
		u.begun = u.begun.Add(-by)
	}
}

// ServeHTTP is http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	asked := Request{r.Method, key, r.URL.RawQuery, r.Header.Get("Range"), len(body)}
	s.mu.Lock()
	s.seen = append(s.seen, asked)
	f := s.fault
	s.mu.Unlock()
	fault := None
	if f != nil {
		fault = f(asked)
	}
	switch fault { //nolint:exhaustive // the others come after
	case Broken:
		fail(w, http.StatusInternalServerError, "InternalError")
		return
	case Busy:
		fail(w, http.StatusServiceUnavailable, "SlowDown")
		return
	case Denied:
		fail(w, http.StatusForbidden, "AccessDenied")
		return
	case NotFound:
		http.NotFound(w, r)
		return
	case Reset:
		panic(http.ErrAbortHandler)
	case Hang:
		s.hang(r)
		return
	}
	sum := sha256.Sum256(body)
	unsigned := len(body) == 0 && r.Header.Get("X-Amz-Content-Sha256") == "UNSIGNED-PAYLOAD"
	if !unsigned && r.Header.Get("X-Amz-Content-Sha256") != hex.EncodeToString(sum[:]) || !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=") {
		fail(w, http.StatusForbidden, "SignatureDoesNotMatch")
		return
	}
	a := httptest.NewRecorder()
	s.answer(a, r, key, body)
	s.send(w, r, a, fault)
}

func (s *Server) hang(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-s.over:
	}
}

func (s *Server) send(w http.ResponseWriter, r *http.Request, a *httptest.ResponseRecorder, fault Fault) {
	switch fault { //nolint:exhaustive // the others come elsewhere
	case ResetEnd:
		panic(http.ErrAbortHandler)
	case HangEnd:
		s.hang(r)
		return
	case LateFail:
		a.Body.Reset()
		a.Body.WriteString("<Error><Code>InternalError</Code><Message>late</Message></Error>")
	}
	maps.Copy(w.Header(), a.Header())
	out := a.Body.Bytes()
	w.Header().Set("Content-Length", strconv.Itoa(len(out)))
	w.WriteHeader(a.Code)
	flush := http.NewResponseController(w)
	switch fault { //nolint:exhaustive // the others come elsewhere
	case Cut:
		_, _ = w.Write(out[:len(out)/2])
		_ = flush.Flush()
		panic(http.ErrAbortHandler)
	case Stall:
		_, _ = w.Write(out[:len(out)/2])
		_ = flush.Flush()
		s.hang(r)
	case Slow:
		for part := range slices.Chunk(out, max(1, len(out)/50)) {
			_, _ = w.Write(part)
			_ = flush.Flush()
		}
	default:
		_, _ = w.Write(out)
	}
}

func fail(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>as the test wants it</Message></Error>", code)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, key string, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := r.URL.Query()
	id := q.Get("uploadId")
	if id != "" && s.uploads[id] == nil {
		fail(w, http.StatusNotFound, "NoSuchUpload")
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
		w.Header().Set("ETag", tag(body))
	case r.Method == http.MethodPut:
		s.objects[key] = body
		w.Header().Set("ETag", tag(body))
	case r.Method == http.MethodPost && q.Has("uploads"):
		_, _ = fmt.Fprintf(w, "<InitiateMultipartUploadResult><UploadId>%s</UploadId></InitiateMultipartUploadResult>", s.begin(key))
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

func tag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:16]) + `"`
}

func (s *Server) get(w http.ResponseWriter, r *http.Request, key string) {
	body, there := s.objects[key]
	if !there {
		fail(w, http.StatusNotFound, "NoSuchKey")
		return
	}
	if match := r.Header.Get("If-Match"); match != "" && match != tag(body) {
		fail(w, http.StatusPreconditionFailed, "PreconditionFailed")
		return
	}
	var from, to int
	if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to); err != nil {
		fail(w, http.StatusBadRequest, "InvalidArgument")
		return
	}
	if from >= len(body) {
		fail(w, http.StatusRequestedRangeNotSatisfiable, "InvalidRange")
		return
	}
	to = min(to, len(body)-1)
	w.Header().Set("ETag", tag(body))
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
		if len(out.Contents) == s.Page {
			out.IsTruncated, out.NextContinuationToken = true, out.Contents[s.Page-1].Key
			break
		}
		out.Contents = append(out.Contents, content{key})
	}
	_ = xml.NewEncoder(w).Encode(out)
}

func (s *Server) listUploads(w http.ResponseWriter, prefix string) {
	type one struct {
		Key, UploadId string // as S3 names it
		Initiated     time.Time
	}
	var out struct {
		XMLName xml.Name `xml:"ListMultipartUploadsResult"`
		Upload  []one
	}
	for id, u := range s.uploads {
		if strings.HasPrefix(u.key, prefix) {
			out.Upload = append(out.Upload, one{u.key, id, u.begun})
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
		fail(w, http.StatusBadRequest, "MalformedXML")
		return
	}
	u := s.uploads[id]
	var all []byte
	for _, p := range named.Part {
		part, there := u.parts[p.PartNumber]
		if !there || tag(part) != `"`+p.ETag+`"` {
			fail(w, http.StatusBadRequest, "InvalidPart")
			return
		}
		all = append(all, part...)
	}
	s.objects[u.key] = all
	delete(s.uploads, id)
	_, _ = io.WriteString(w, "<CompleteMultipartUploadResult><Bucket>calls</Bucket></CompleteMultipartUploadResult>")
}
