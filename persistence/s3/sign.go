package s3

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Keys are who we are to the store.
type Keys struct {
	ID, Secret string
	Token      string // of keys that are lent for a time; empty: they are our own
}

const (
	algorithm  = "AWS4-HMAC-SHA256"
	signedTime = "20060102T150405Z"
	signedDay  = "20060102"
)

// sign signs a request with all headers that it has, by version 4 of AWS's
// signatures. sum is the SHA-256 of the body.
func sign(r *http.Request, k Keys, region string, sum [sha256.Size]byte, now time.Time) {
	now = now.UTC()
	r.Header.Set("X-Amz-Date", now.Format(signedTime))
	r.Header.Set("X-Amz-Content-Sha256", hex.EncodeToString(sum[:]))
	if k.Token != "" {
		r.Header.Set("X-Amz-Security-Token", k.Token)
	}
	names := []string{"host"}
	for name := range r.Header {
		names = append(names, strings.ToLower(name))
	}
	slices.Sort(names)
	var text strings.Builder
	text.WriteString(r.Method + "\n" + escape(r.URL.Path, false) + "\n" + query(r.URL.Query()) + "\n")
	for _, name := range names {
		value := r.URL.Host
		if name != "host" {
			value = strings.Join(r.Header.Values(name), ",")
		}
		text.WriteString(name + ":" + strings.Join(strings.Fields(value), " ") + "\n")
	}
	signed := strings.Join(names, ";")
	text.WriteString("\n" + signed + "\n" + hex.EncodeToString(sum[:]))
	scope := now.Format(signedDay) + "/" + region + "/s3/aws4_request"
	whole := sha256.Sum256([]byte(text.String()))
	key := []byte("AWS4" + k.Secret)
	for part := range strings.SplitSeq(scope, "/") {
		key = mac(key, part)
	}
	seal := mac(key, algorithm+"\n"+now.Format(signedTime)+"\n"+scope+"\n"+hex.EncodeToString(whole[:]))
	r.Header.Set("Authorization", algorithm+" Credential="+k.ID+"/"+scope+",SignedHeaders="+signed+",Signature="+hex.EncodeToString(seal))
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// query is the query as it is signed and sent: sorted, each name with a value.
func query(q url.Values) string {
	var parts []string
	for name, values := range q {
		for _, v := range values {
			parts = append(parts, escape(name, true)+"="+escape(v, true))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, "&")
}

// escape leaves RFC 3986's unreserved characters alone, and slashes where they
// part a path.
func escape(s string, slashes bool) string {
	const hexes = "0123456789ABCDEF"
	var out strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~", c) >= 0, c == '/' && !slashes:
			out.WriteByte(c)
		default:
			out.Write([]byte{'%', hexes[c>>4], hexes[c&15]})
		}
	}
	return out.String()
}
