package server

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/callboard/callboard/httpapi/forward"
)

// shutdownLimit bounds the requests that are being forwarded when the process ends.
const shutdownTimeout = 10 * time.Second

// nodeHTTP takes the requests of clients and of other nodes, and forwards those that
// another node owns.
type nodeHTTP struct {
	credential     *forward.Credential // of this cluster
	clientListener net.Listener        // where clients connect
	nodeListener   net.Listener        // where other nodes connect
	server         *http.Server        // of clients
	connRouter     *forward.ConnRouter // by shard, for requests of other nodes
	forwarder      *forward.Forwarder
}

// close lets requests of clients finish within shutdownLimit and closes the listeners.
// The forwarder stays open: shards that are still stopping use it.
func (h *nodeHTTP) close() {
	if h.server != nil {
		bound, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
		defer cancel()
		if h.server.Shutdown(bound) != nil {
			_ = h.server.Close()
		}
	}
	if h.connRouter != nil {
		h.connRouter.Close()
	}
	for _, ln := range []net.Listener{h.clientListener, h.nodeListener} {
		if ln != nil {
			_ = ln.Close()
		}
	}
}
