package fault

import (
	"bufio"
	"errors"
	"io"
	"net"
	"strings"
	"sync"

	"github.com/alicebob/miniredis/v2/proto"
)

// route is a pair of connections: from one client to the proxy, and from the proxy to Redis.
type route struct {
	proxy          *Proxy
	client, server net.Conn

	mu         sync.Mutex
	pending    []pendingReply // replies that Redis owes, in order
	subscribed bool           // the client has subscribed to a channel, so messages come between replies

	transaction []string // raw commands since MULTI; nil outside a transaction
	resendTrap  *Trap    // Resend trap of a command in the transaction, which is then sent twice as a whole; nil: none
}

// pendingReply describes a reply that Redis has not sent yet.
type pendingReply struct {
	trap      *Trap // trap that caught the command; nil: none
	discarded bool  // the reply is dropped: the command is sent twice, and the client gets the second reply
}

// errLost is returned when a trap has lost a command: its connection must be closed.
var errLost = errors.New("this connection is lost with its command")

// run forwards commands and replies until both directions have ended.
func (r *route) run() {
	var replies sync.WaitGroup
	replies.Go(func() {
		r.passReplies()
		r.close() // unblocks the reader of the client's commands
	})
	if err := r.passCommands(); errors.Is(err, errLost) {
		r.close()
	} else if tcp, ok := r.server.(*net.TCPConn); ok {
		_ = tcp.CloseWrite() // Redis still receives and answers what was sent.
	}
	replies.Wait()
}

// close closes both connections. It may be called more than once.
func (r *route) close() {
	_ = r.client.Close() // Either connection may be closed already.
	_ = r.server.Close()
}

// passCommands forwards the client's commands, and applies traps to them. It returns errLost after a lost command.
func (r *route) passCommands() error {
	commands := bufio.NewReader(r.client)
	for {
		raw, err := proto.Read(commands)
		if err != nil {
			return err
		}
		args, err := proto.ReadStrings(raw)
		if err != nil {
			return err
		}
		trap := r.proxy.takeTrap(args, false)
		if trap != nil {
			raw = withScriptText(args, raw)
		}
		if trap != nil && trap.isForCommand() {
			if err := trap.apply(); err != nil {
				return err
			}
		}
		r.proxy.awaitHang()
		if err := r.send(args[0], raw, r.transact(args[0], raw, trap)); err != nil {
			return err
		}
	}
}

// transact records the commands of a transaction, and returns the trap of the command that goes to Redis. A single command of a
// transaction cannot be sent twice, so its Resend trap moves to EXEC.
func (r *route) transact(name, raw string, trap *Trap) *Trap {
	begins := strings.EqualFold(name, "multi")
	if !begins && r.transaction == nil {
		return trap
	}
	r.transaction = append(r.transaction, raw)
	if trap != nil && trap.action == Resend {
		r.resendTrap, trap = trap, nil
	}
	switch {
	case strings.EqualFold(name, "exec") && r.resendTrap != nil:
		trap, r.resendTrap = r.resendTrap, nil
	case strings.EqualFold(name, "exec"), strings.EqualFold(name, "discard"):
		r.transaction = nil
	}
	return trap
}

// send sends a command to Redis. With a Resend trap it sends the command twice; an EXEC is repeated with its whole transaction.
func (r *route) send(name, raw string, trap *Trap) error {
	r.mu.Lock()
	if trap != nil && trap.action == Resend {
		again := r.transaction
		if again == nil {
			again = []string{raw}
		}
		r.transaction = nil
		for range again {
			r.pending = append(r.pending, pendingReply{discarded: true})
		}
		raw += strings.Join(again, "")
	}
	r.pending = append(r.pending, pendingReply{trap: trap})
	r.subscribed = r.subscribed || strings.EqualFold(name, "subscribe")
	r.mu.Unlock()
	_, err := io.WriteString(r.server, raw)
	return err
}

// passReplies forwards replies and messages from Redis, and applies traps to them, until the connection ends or a reply is lost.
func (r *route) passReplies() {
	replies := bufio.NewReader(r.server)
	for {
		raw, err := proto.Read(replies)
		if err != nil {
			return
		}
		message, reply := r.receive(raw)
		if message != nil {
			if trap := r.proxy.takeTrap(message, true); trap != nil && trap.apply() != nil {
				continue
			}
		}
		if reply.discarded {
			continue
		}
		if trap := reply.trap; trap != nil {
			close(trap.answered)
			if !trap.isForCommand() && trap.apply() != nil {
				return
			}
		}
		if _, err := io.WriteString(r.client, raw); err != nil {
			continue // The client has left; the remaining replies are still read.
		}
	}
}

// receive classifies what Redis has sent: it returns the words of a message to a subscriber, or else the pending entry of a reply.
func (r *route) receive(raw string) (message []string, reply pendingReply) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.subscribed {
		if words, err := proto.ReadStrings(raw); err == nil && len(words) == 3 && words[0] == "message" {
			return words, pendingReply{}
		}
	}
	if len(r.pending) > 0 {
		reply, r.pending = r.pending[0], r.pending[1:]
	}
	return nil, reply
}
