// The controller is the host's side of the bridge inside the guest. It runs once, when an image is built, and gives the
// host its functions: boot and bind to prepare the heap, start, settle, take and finish for a cell, describe for errors.
//
// User code shares the heap and may rewrite every prototype it can reach. So everything used here is captured first, and
// nothing below looks a method up on a prototype, iterates with for-of, spreads, or assigns to an index of an array that
// has a prototype. Objects made here have none.
(() => {
  "use strict";
  const { apply, getPrototypeOf, defineProperty, getOwnPropertyDescriptor: describeProperty } = Reflect;
  const { stringify } = JSON;
  const { isArray } = Array;
  const { freeze, keys, setPrototypeOf } = Object;
  const P = Promise, E = Error, TE = TypeError, F = Function;
  const isError = E.isError ?? ((v) => v instanceof E);
  const { isFinite, isNaN } = Number;
  const { trunc } = Math;
  const String_ = String, Number_ = Number, Uint8 = Uint8Array;
  const objectPrototype = Object.prototype, arrayPrototype = Array.prototype, errorPrototype = E.prototype;
  const typeErrorPrototype = TE.prototype;
  const getter = (o, k) => describeProperty(o, k).get;
  const typedArray = getPrototypeOf(Uint8Array.prototype);
  const typedArrayTag = getter(typedArray, Symbol.toStringTag);
  const typedArrayLength = getter(typedArray, "length");
  const viewBuffer = getter(DataView.prototype, "buffer");
  const viewOffset = getter(DataView.prototype, "byteOffset");
  const viewLength = getter(DataView.prototype, "byteLength");
  const bufferLength = getter(ArrayBuffer.prototype, "byteLength");
  const sharedLength = getter(SharedArrayBuffer.prototype, "byteLength");
  const domName = getter(DOMException.prototype, "name"), domMessage = getter(DOMException.prototype, "message");
  const dateTime = Date.prototype.getTime, dateISO = Date.prototype.toISOString;
  const mapForEach = Map.prototype.forEach, setForEach = Set.prototype.forEach;
  const mapSize = getter(Map.prototype, "size"), setSize = getter(Set.prototype, "size");
  const regexpSource = getter(RegExp.prototype, "source"), regexpFlags = getter(RegExp.prototype, "flags");
  const promiseThen = P.prototype.then;
  const numberValue = Number.prototype.valueOf, stringValue = String.prototype.valueOf;
  const booleanValue = Boolean.prototype.valueOf, bigintValue = BigInt.prototype.valueOf;
  const toStringTag = Object.prototype.toString;
  const split = String.prototype.split, slice = String.prototype.slice, test = RegExp.prototype.exec;
  const list = () => setPrototypeOf([], null);
  const record = () => ({ __proto__: null });
  const push = (l, v) => { l[l.length] = v; };
  const none = list();

  // A program that sets Error.prepareStackTrace is given the call sites of an error, and they would give it the functions
  // below.
  E.prepareStackTrace = (_, sites) => sites;
  const site = new E().stack[0];
  E.prepareStackTrace = undefined;
  delete getPrototypeOf(site).getFunction;

  // ---- Values on their way out -------------------------------------------------------------------------------------

  const LIMIT = freeze(record()); // thrown when a value is larger than its budget
  const MAX_DEPTH = 400; // levels of nesting; the C stack has room for about six times as many calls
  const UNAWAITED = "[Unawaited Promise: use await or Promise.all(...) before emitting or returning values.]";
  let budget = 0, depth = 0, reading = false;
  const path = list(), above = list();

  const spend = (n) => { if ((budget -= n) < 0) throw LIMIT; };

  const pathText = () => {
    let s = "$";
    for (let i = 0; i < depth; i++) {
      const k = path[i];
      s += typeof k === "number" ? "[" + k + "]" : apply(test, /^[A-Za-z_$][\w$]*$/, [k]) ? "." + k : "[" + stringify(k) + "]";
      if (s.length > 200) return apply(slice, s, [0, 200]) + "...";
    }
    return s;
  };

  // A failure while reading a value names the member and keeps the first words of what was thrown.
  class ReadError extends E {}
  const failed = (e) => {
    if (e === LIMIT || e instanceof ReadError) return e;
    let m;
    try { m = isError(e) ? e.message : e; m = typeof m === "symbol" ? "a symbol" : "" + m; } catch { m = "an object"; }
    const r = new ReadError("reading " + pathText() + ": " + apply(slice, m, [0, 500]));
    return r;
  };

  // clean gives the JSON text of v, written here rather than by JSON.stringify, which a setter on Array.prototype
  // breaks and a toJSON on Object.prototype misleads. undefined means that v has no place in JSON.
  const quote = (s) => (spend(s.length + 2), stringify(s));
  // Names of members come again and again; quoting one costs more than all the rest of a small member.
  const MAX_NAMES = 500, MAX_NAME = 40;
  const quoted = record();
  let quotedNames = 0;
  const quoteName = (k) => {
    spend(k.length + 2);
    const q = quoted[k];
    if (q !== undefined) return q;
    if (quotedNames >= MAX_NAMES || k.length > MAX_NAME) return stringify(k);
    quotedNames++;
    return (quoted[k] = stringify(k));
  };
  const NULL = () => (spend(4), "null");
  const clean = (v) => {
    switch (typeof v) {
      case "string": return quote(v);
      case "number": return isFinite(v) ? (spend(2), "" + v) : NULL();
      case "boolean": spend(4); return v ? "true" : "false";
      case "bigint": return quote("" + v);
      case "object": return v === null ? NULL() : cleanObject(v);
      default: return undefined;
    }
  };

  const member = (k, v) => { // v is a function of no argument, since reading it may throw
    path[depth++] = k;
    let r;
    try { r = clean(v()); } catch (e) { throw failed(e); }
    depth--;
    return r;
  };

  const cleanObject = (v) => {
    for (let i = 0; i < depth; i++) if (above[i] === v) return quote("[Circular]");
    if (depth >= MAX_DEPTH) throw failed(new E("nested deeper than " + MAX_DEPTH + " levels"));
    above[depth] = v;
    const proto = getPrototypeOf(v);
    if (proto === arrayPrototype || isArray(v)) return cleanArray(v, v.length);
    if (proto === objectPrototype || proto === null) return isError(v) ? cleanError(v) : cleanMembers(v);
    if (isError(v)) return cleanError(v);
    const special = cleanSpecial(v);
    return special === LIMIT ? cleanMembers(v) : special;
  };

  const cleanArray = (v, length) => {
    let s = "[";
    spend(2);
    for (let i = 0; i < length; i++) {
      path[depth++] = i;
      let r;
      try { r = clean(v[i]); } catch (e) { throw failed(e); }
      depth--;
      spend(1);
      s += (i ? "," : "") + (r ?? NULL());
    }
    return s + "]";
  };

  const cleanMembers = (v) => {
    let s = "{", first = true;
    spend(2);
    const ks = keys(v);
    for (let i = 0; i < ks.length; i++) {
      const k = ks[i];
      path[depth++] = k;
      let r;
      try { r = clean(v[k]); } catch (e) { throw failed(e); }
      depth--;
      if (r === undefined) continue;
      s += (first ? "" : ",") + quoteName(k) + ":" + r;
      first = false;
    }
    return s + "}";
  };

  const cleanError = (v) => {
    let s = '{"name":' + (member("name", () => v.name) ?? '"Error"') + ',"message":' + (member("message", () => v.message) ?? '""');
    const cause = member("cause", () => v.cause);
    if (cause !== undefined) s += ',"cause":' + cause;
    const errors = member("errors", () => v.errors);
    if (errors !== undefined) s += ',"errors":' + errors;
    return s + "}";
  };

  const pairs = (each, size, v, pick) => {
    const l = list();
    if (apply(size, v, none) > budget) throw LIMIT;
    apply(each, v, [(value, key) => { push(l, pick(value, key)); }]);
    return cleanArray(l, l.length);
  };

  // cleanSpecial converts what is neither a plain object, an array nor an error, and answers LIMIT if it does not know
  // v. The tag only chooses what to try: the captured methods throw on an object that lacks the internal slot.
  const cleanSpecial = (v) => {
    const tag = apply(toStringTag, v, none);
    try {
      switch (tag) {
        case "[object Date]": {
          const t = apply(dateTime, v, none);
          return isNaN(t) ? NULL() : quote(apply(dateISO, v, none));
        }
        case "[object Map]":
          return pairs(mapForEach, mapSize, v, (value, key) => { const p = list(); p[0] = key; p[1] = value; return p; });
        case "[object Set]": return pairs(setForEach, setSize, v, (value) => value);
        case "[object RegExp]": return quote("/" + apply(regexpSource, v, none) + "/" + apply(regexpFlags, v, none));
        case "[object ArrayBuffer]": return quote(base64(new Uint8(v), apply(bufferLength, v, none)));
        case "[object SharedArrayBuffer]": return quote(base64(new Uint8(v), apply(sharedLength, v, none)));
        case "[object DOMException]":
          return '{"name":' + quote(apply(domName, v, none)) + ',"message":' + quote(apply(domMessage, v, none)) + "}";
        case "[object DataView]": {
          const n = apply(viewLength, v, none);
          return cleanArray(new Uint8(apply(viewBuffer, v, none), apply(viewOffset, v, none), n), n);
        }
        case "[object Promise]":
          if (apply(promiseThen, v, none)) return quote(UNAWAITED);
          break;
        case "[object Number]": return clean(apply(numberValue, v, none));
        case "[object String]": return clean(apply(stringValue, v, none));
        case "[object Boolean]": return clean(apply(booleanValue, v, none));
        case "[object BigInt]": return clean(apply(bigintValue, v, none));
        default:
          if (apply(typedArrayTag, v, none) !== undefined) return cleanArray(v, apply(typedArrayLength, v, none));
      }
    } catch (e) {
      // v is not what its tag says. Anything else, such as no room on the stack, is no reason to give a part of v as if
      // it were all.
      if (typeof e !== "object" || e === null || getPrototypeOf(e) !== typeErrorPrototype) throw e;
    }
    return LIMIT;
  };

  const base64 = (bytes, n) => {
    const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (n > budget) throw LIMIT;
    let s = "";
    for (let i = 0; i < n; i += 3) {
      const b = (bytes[i] << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
      s += digits[b >> 18] + digits[(b >> 12) & 63] + (i + 1 < n ? digits[(b >> 6) & 63] : "=") + (i + 2 < n ? digits[b & 63] : "=");
    }
    return s;
  };

  // json turns v into JSON text of at most about max characters; undefined if v has no place in JSON. Getters and proxy
  // traps of v run, and may neither call tools nor emit meanwhile.
  const json = (v, max) => {
    const outer = reading;
    budget = max; depth = 0; reading = true;
    try {
      return clean(v);
    } catch (e) {
      throw failed(e);
    } finally {
      reading = outer;
    }
  };

  // ---- Output ------------------------------------------------------------------------------------------------------

  let limits = record();
  let output = list(), outputSize = 0, overflow = false;

  const emit = (item) => {
    outputSize += item.length + 1;
    if (overflow || outputSize > limits.output) {
      overflow = true;
      throw new E("code mode output limit exceeded");
    }
    push(output, item);
  };
  const emitted = (v) => {
    if (reading) throw new E("output cannot be made while a value is read");
    try {
      return json(v, limits.output);
    } catch (e) {
      if (e !== LIMIT) throw e;
      overflow = true;
      throw new E("code mode output limit exceeded");
    }
  };
  const words = (v) => {
    switch (typeof v) {
      case "string": return v;
      case "number": case "bigint": return "" + v;
      case "symbol": return String_(v);
      case "function": return "[function]";
      default: return emitted(v) ?? "undefined";
    }
  };
  const emitText = (s) => emit('{"type":"text","text":' + (emitted(s) ?? '""') + "}");

  const text = (v) => { emitText(typeof v === "string" ? v : emitted(v) ?? "null"); };
  const jsonOut = (v) => { emit('{"type":"json","value":' + (emitted(v) ?? "null") + "}"); };
  const log = (...args) => {
    let s = "";
    for (let i = 0; i < args.length; i++) s += (i ? " " : "") + words(args[i]);
    emitText(s);
  };

  // ---- The bridge --------------------------------------------------------------------------------------------------

  let requests = list(), cancelled = list(), takes = 0, waiting = 0, held = 0;
  const counters = record(), pending = record();

  // argument gives the JSON text of what a program passes to a call.
  const argument = (method, v) => {
    if (reading) throw new E("tools cannot be called while a value is read");
    try {
      return json(v, limits.input) ?? "null";
    } catch (e) {
      if (e !== LIMIT) throw e;
      throw new E("the arguments of " + method + " are larger than " + limits.input + " bytes");
    }
  };

  // send asks the host for something. args is the JSON text of an array.
  const send = (method, args, entry) => {
    if (reading) throw new E("tools cannot be called while a value is read");
    if (waiting >= limits.pending) throw new E("too many pending code mode tool calls");
    if (args.length > limits.input) throw new E("the arguments of " + method + " are larger than " + limits.input + " bytes");
    if (held + args.length > limits.held) {
      throw new E("too many pending code mode tool calls: their arguments are larger than " + limits.held + " bytes together");
    }
    entry.size = args.length;
    entry.takes = takes;
    entry.at = requests.length;
    held += entry.size;
    const n = (counters[method] = (counters[method] ?? 0) + 1);
    const id = "bridge:" + method + ":" + n;
    pending[id] = entry;
    waiting++;
    push(requests, '{"id":"' + id + '","method":"' + method + '","args":' + args + "}");
    return id;
  };

  const request = (method, args) =>
    new P((resolve, reject) => send(method, argument(method, args), { __proto__: null, resolve, reject }));

  // callTool is request for the call of a tool: head is the beginning of the arguments, as text.
  const callTool = (method, head, v) =>
    new P((resolve, reject) =>
      send(method, head + (v === undefined ? "{}" : argument(method, v)) + "]", { __proto__: null, resolve, reject }));

  const args = (...a) => setPrototypeOf(a, null);

  const forget = (id, entry) => {
    delete pending[id];
    waiting--;
    held -= entry.size;
  };

  // settleOne delivers an answer, and reports whether that ran a timer's callback.
  const settleOne = (id, ok, value) => {
    const entry = pending[id];
    if (entry === undefined) return false;
    forget(id, entry);
    if (entry.timer !== undefined) {
      delete timers[entry.timer];
      try {
        apply(entry.callback, undefined, entry.args);
      } catch (e) {
        new P((_, reject) => reject(e)); // so that it counts as a rejection nobody handles
      }
      return true;
    }
    if (ok) {
      entry.resolve(value);
      return false;
    }
    setPrototypeOf(value, null); // or a getter on Object.prototype would give what is missing
    const e = new E(value.message);
    if (value.name !== undefined) defineProperty(e, "name", { __proto__: null, value: value.name, writable: true, configurable: true });
    defineProperty(e, "code", { __proto__: null, value: value.code, writable: true, configurable: true, enumerable: true });
    entry.reject(e);
    return false;
  };

  // ---- Timers ------------------------------------------------------------------------------------------------------

  const timers = record();
  let lastTimer = 0;
  const setTimeout = (callback, ms, ...rest) => {
    if (typeof callback !== "function") throw new TE("setTimeout needs a function");
    let delay = trunc(Number_(ms));
    if (!(delay > 0)) delay = 0;
    if (delay > 2147483647) delay = 2147483647;
    const entry = record();
    entry.callback = callback;
    entry.args = rest;
    entry.timer = ++lastTimer;
    timers[lastTimer] = send("timer", "[" + delay + "]", entry);
    return lastTimer;
  };
  const clearTimeout = (handle) => {
    if (typeof handle !== "number") return;
    const id = timers[handle];
    if (id === undefined) return;
    const entry = pending[id];
    delete timers[handle];
    forget(id, entry);
    if (entry.takes === takes) requests[entry.at] = ""; // the host has not heard of it
    else push(cancelled, '"' + id + '"');
  };

  // ---- Globals -----------------------------------------------------------------------------------------------------

  const fixed = (name, value) =>
    defineProperty(globalThis, name, { __proto__: null, value, enumerable: true, writable: false, configurable: false });

  const build = (id, d, at) => {
    switch (d.kind) {
      case "function": {
        const head = "[" + stringify(id) + "," + stringify(d.path) + ",";
        return (...a) => callTool("namespace", head, a);
      }
      case "array": {
        const out = [];
        for (let i = 0; i < d.items.length; i++) out[i] = build(id, d.items[i]);
        return freeze(out);
      }
      case "object": {
        const out = record();
        for (let i = 0; i < d.entries.length; i++) {
          const k = d.entries[i][0];
          if (k !== "") out[k] = build(id, d.entries[i][1]);
        }
        return freeze(out);
      }
      default: return d.value;
    }
  };

  const normalise = (path) => {
    if (typeof path !== "string") throw new E("invalid API file path");
    let p = path;
    while (p[0] === " " || p[0] === "\t" || p[0] === "\n" || p[0] === "/") p = apply(slice, p, [1]);
    while (p.length && (p[p.length - 1] === " " || p[p.length - 1] === "\t" || p[p.length - 1] === "\n")) p = apply(slice, p, [0, p.length - 1]);
    const parts = apply(split, p, ["/"]);
    for (let i = 0; i < parts.length; i++) if (parts[i] === "" || parts[i] === "." || parts[i] === "..") throw new E("invalid API file path");
    return p;
  };

  const makeAPI = (files) => {
    const view = (f, withContent) => {
      const v = record();
      v.path = f.path;
      if (withContent) v.content = f.content;
      v.description = f.description;
      v.bytes = f.bytes;
      return freeze(v);
    };
    const api = record();
    api.list = (prefix = "") => {
      let p = prefix === null ? "" : prefix;
      if (typeof p === "string") while (p[p.length - 1] === "/") p = apply(slice, p, [0, p.length - 1]);
      if (p !== "") p = normalise(p);
      const out = [];
      for (let i = 0; i < files.length; i++) {
        const f = files[i];
        if (p === "" || f.path === p || apply(slice, f.path, [0, p.length + 1]) === p + "/") {
          defineProperty(out, out.length, { __proto__: null, value: view(f, false), enumerable: true, writable: true, configurable: true });
        }
      }
      const r = record();
      r.files = out;
      return r;
    };
    api.read = (path) => {
      const p = normalise(path);
      for (let i = 0; i < files.length; i++) if (files[i].path === p) return view(files[i], true);
      throw new E("Unknown API file: " + p);
    };
    return freeze(api);
  };

  // boot puts a catalog into the heap. data: {limits, entries, names: [[name, id]], files: [{path, content, description,
  // bytes}]}.
  const boot = (data) => {
    limits = data.limits;
    setPrototypeOf(limits, null);
    const tools = record();
    tools.search = (query, options) => request("search", args(query, options));
    tools.describe = (id) => request("describe", args(id));
    tools.call = (id, v) => request("call", args(id, v === undefined ? record() : v));
    tools.callValue = (id, v) => request("callValue", args(id, v === undefined ? record() : v));
    for (let i = 0; i < data.names.length; i++) {
      const name = data.names[i][0], id = data.names[i][1];
      const head = "[" + stringify(id) + ",";
      tools[name] = (v, extra) => {
        if (extra !== undefined) {
          return new P((_, reject) => reject(new TE("tools." + name + " takes one argument, an object with the tool's input; got more")));
        }
        return callTool("callValue", head, v);
      };
    }
    fixed("ALL_TOOLS", freeze(data.entries));
    fixed("tools", freeze(tools));
    fixed("API", makeAPI(data.files));
    fixed("text", text);
    fixed("json", jsonOut);
    fixed("yield_control", (reason) => request("yield", args(reason)));
    const free = (name, value) =>
      defineProperty(globalThis, name, { __proto__: null, value, enumerable: false, writable: true, configurable: true });
    const console = {};
    for (const k of ["log", "info", "debug", "warn", "error"]) console[k] = log;
    free("console", console);
    free("setTimeout", setTimeout);
    free("clearTimeout", clearTimeout);
  };

  // bind puts the namespaces into the heap: [[id, global, descriptor]].
  const bind = (list) => {
    const spaces = record();
    for (let i = 0; i < list.length; i++) {
      const n = list[i];
      const scope = build(n[0], n[2]);
      spaces[n[1]] = scope;
      const have = describeProperty(globalThis, n[1]);
      if (have === undefined || have.configurable) {
        defineProperty(globalThis, n[1], { __proto__: null, value: scope, enumerable: true, writable: false, configurable: true });
      }
    }
    fixed("namespaces", freeze(spaces));
  };

  // start calls the cell and gives its promise. cell: an array that holds the async function.
  const start = (cell) => apply(cell[0], undefined, none);

  // settle delivers answers, in order: [{id, ok, value}]. It stops after the callback of a timer, since jobs come before
  // the next one, and is called again, without answers, until it gives false.
  let answered = none, next = 0;
  const settle = (answers) => {
    if (answers !== undefined) {
      answered = answers;
      next = 0;
    }
    while (next < answered.length) {
      const a = answered[next++];
      if (settleOne(a.id, a.ok, a.value) && next < answered.length) return true;
    }
    answered = none;
    return false;
  };

  const join = (l) => {
    let s = "";
    for (let i = 0; i < l.length; i++) if (l[i] !== "") s += s === "" ? l[i] : "," + l[i];
    return s;
  };

  // take gives what has gathered since the last time, as JSON, and nothing if nothing has.
  const take = () => {
    if (output.length + requests.length + cancelled.length === 0 && !overflow) return "";
    let s = '{"output":[' + join(output) + '],"requests":[' + join(requests) + "]";
    if (cancelled.length) s += ',"cancelled":[' + join(cancelled) + "]";
    if (overflow) s += ',"overflow":true';
    output = list(); requests = list(); cancelled = list();
    takes++;
    return s + "}";
  };

  // finish gives the JSON text of the cell's value; "" for undefined, "!" if it is over the limit.
  const finish = (v) => {
    try {
      return json(v, limits.output) ?? "";
    } catch (e) {
      if (e === LIMIT) return "!";
      throw e;
    }
  };

  // describe gives the JSON text of what was thrown: {name, message, stack, cause?, errors?, more?}, or {text} for what is
  // not an error.
  const ERRORS = 10, CHARS = 4000, CAUSES = 5, PROBLEMS = 40;
  let problems = 0;
  const attempt = (f) => { try { return f(); } catch { return undefined; } };
  const text_ = (f, otherwise) => {
    const v = attempt(f);
    return stringify(typeof v === "string" ? apply(slice, v, [0, CHARS]) : otherwise);
  };
  // What is no error by its making may have been made into one by older means, a prototype or a proxy.
  const likeError = (e) => {
    if (isError(e)) return true;
    if (typeof e !== "object") return false;
    for (let i = 0; e !== null && i < 100; i++) {
      if (e === errorPrototype) return true;
      e = getPrototypeOf(e);
    }
    return false;
  };
  const describe = (thrown) => {
    problems = 0;
    return problem(thrown, 0);
  };
  const problem = (e, level) => {
    problems++;
    if (!attempt(() => likeError(e))) {
      return '{"text":' + text_(() => {
        switch (typeof e) {
          case "string": return e;
          case "undefined": return "undefined";
          case "symbol": return String_(e);
          case "function": return "a function";
          case "bigint": case "number": return "" + e;
          default: return json(e, CHARS);
        }
      }, "an object") + "}";
    }
    let s = '{"name":' + text_(() => e.name, "Error") + ',"message":' + text_(() => e.message, "") + ',"stack":' + text_(() => e.stack, "");
    if (level < CAUSES) {
      const cause = attempt(() => e.cause);
      if (cause !== undefined && problems < PROBLEMS) s += ',"cause":' + problem(cause, level + 1);
      const errors = attempt(() => e.errors);
      if (attempt(() => isArray(errors))) {
        let n = attempt(() => errors.length);
        n = typeof n === "number" && n > 0 ? trunc(n < 4294967295 ? n : 4294967295) : 0;
        let i = 0;
        s += ',"errors":[';
        for (; i < n && i < ERRORS && problems < PROBLEMS; i++) s += (i ? "," : "") + problem(attempt(() => errors[i]), level + 1);
        s += "]";
        if (n > i) s += ',"more":' + (n - i);
      }
    }
    return s + "}";
  };

  return { boot, bind, start, settle, take, finish, describe };
})();
