package record

import (
	"io"
	"time"
)

// Download is a stored file that is sent to a client. The caller that receives it must close Body.
type Download struct {
	Size    int64
	Created time.Time
	Body    io.ReadSeekCloser
}
