package record

import (
	"io"
	"time"
)

// Download is a stored file to send to a client. The receiver closes Body.
type Download struct {
	Size    int64
	Created time.Time
	Body    io.ReadSeekCloser
}
