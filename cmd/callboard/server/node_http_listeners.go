package server

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/callboard/callboard/httpapi/forward"
)

// shutdownTimeout limits how long requests in progress may continue when the process ends.
const shutdownTimeout = 10 * time.Second

// nodeHTTP accepts the HTTP requests of clients and of other nodes. It forwards requests for workspaces that another
// node owns.
type nodeHTTP struct {
	credential     *forward.Credential // shared by the nodes of the cluster
	clientListener net.Listener        // for clients
	nodeListener   net.Listener        // for other nodes
	server         *http.Server        // for clients
	connRouter     *forward.ConnRouter // passes requests of other nodes to the shards
	forwarder      *forward.Forwarder
}

// close lets requests of clients finish within shutdownTimeout and closes the listeners. The forwarder stays open
// for shards that are still stopping.
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
