//! Values between Python and Rust: as TOML on the way in, as JSON on the way out.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};
use toml::{Table, Value};

/// A value of Python as TOML has it. Numbers of numpy are numbers; whatever can be iterated is a list.
pub fn written(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(switch) = value.cast::<PyBool>() {
        return Ok(Value::Boolean(switch.is_true()));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::String(text.to_string()));
    }
    if let Ok(table) = value.cast::<PyDict>() {
        return self::table(table).map(Value::Table);
    }
    if let Ok(number) = value.extract::<i64>() {
        return Ok(Value::Integer(number));
    }
    if let Ok(number) = value.extract::<f64>() {
        return Ok(Value::Float(number));
    }
    let Ok(items) = value.try_iter() else {
        let found = value.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "found a value of type {found}; expected text, a number, a bool, a list or a dict"
        )));
    };
    items.map(|item| written(&item?)).collect::<PyResult<Vec<Value>>>().map(Value::Array)
}

/// Converts a dict with text keys.
pub fn table(dict: &Bound<'_, PyDict>) -> PyResult<Table> {
    dict.iter().map(|(key, value)| Ok((key.extract::<String>()?, written(&value)?))).collect()
}

/// A JSON text as values of Python.
pub fn read<'py>(py: Python<'py>, json: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (json,))
}
