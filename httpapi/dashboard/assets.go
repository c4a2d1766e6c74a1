package dashboard

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
)

//go:embed assets
var assetFiles embed.FS

// Asset is a static file of the dashboard. Its URL contains a hash of its content, so that browsers can keep it for ever.
type Asset struct {
	URL, Type     string
	Content, Gzip []byte
}

// assets returns the static files by their names and by the names in their URLs.
var assets = sync.OnceValue(func() map[string]*Asset { //nolint:gochecknoglobals // never changed
	all := map[string]*Asset{}
	files, err := fs.ReadDir(assetFiles, "assets")
	if err != nil {
		panic(err)
	}
	for _, f := range files {
		content, err := assetFiles.ReadFile("assets/" + f.Name())
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(content)
		ext := path.Ext(f.Name())
		hashed := strings.TrimSuffix(f.Name(), ext) + "." + hex.EncodeToString(sum[:4]) + ext
		a := &Asset{URL: "/assets/" + hashed, Type: assetTypes()[ext], Content: content, Gzip: compress(content)}
		all[f.Name()], all[hashed] = a, a
	}
	return all
})

// assetTypes returns the media types of static files by the ends of their names.
func assetTypes() map[string]string {
	return map[string]string{
		".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".license": "text/plain; charset=utf-8", ".svg": "image/svg+xml",
	}
}

// FindAsset returns the static file with a name as in its URL, nil if there is none.
func FindAsset(name string) *Asset { return assets()[name] }

// assetURL returns the URL of a static file.
func assetURL(name string) (string, error) {
	a := assets()[name]
	if a == nil {
		return "", fmt.Errorf("dashboard: no asset %s", name)
	}
	return a.URL, nil
}

func compress(content []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is valid
	_, _ = w.Write(content)                               // a buffer accepts everything
	_ = w.Close()
	return b.Bytes()
}
